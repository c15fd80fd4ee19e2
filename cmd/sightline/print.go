package main

import "errors"

type printCmd struct{}

func (c *printCmd) Run() error { return errors.New("under construction") }

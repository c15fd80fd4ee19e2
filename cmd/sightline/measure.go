package main

import "errors"

type measureCmd struct{}

func (c *measureCmd) Run() error { return errors.New("under construction") }

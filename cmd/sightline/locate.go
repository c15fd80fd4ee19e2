package main

import "errors"

type locateCmd struct{}

func (c *locateCmd) Run() error { return errors.New("under construction") }

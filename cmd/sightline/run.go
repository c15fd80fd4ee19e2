package main

import "errors"

type runCmd struct{}

func (c *runCmd) Run() error { return errors.New("under construction") }

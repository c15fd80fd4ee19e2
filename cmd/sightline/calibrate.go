package main

import "errors"

type calibrateCmd struct{}

func (c *calibrateCmd) Run() error { return errors.New("under construction") }

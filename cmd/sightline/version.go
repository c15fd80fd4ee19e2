package main

import "fmt"

// version is set by the Makefile from git.
var version = "unreleased"

type versionCmd struct{}

func (*versionCmd) Run() error {
	_, err := fmt.Println("sightline", version)
	return err
}

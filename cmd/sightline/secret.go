package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"sightline/cmd/internal/app"
	"sightline/cmd/internal/terminal"
)

// secretCmd prints the judge's secret for the person at the machine.
type secretCmd struct {
	Config string `help:"Configuration file. Default: sightline.toml, if it is there." placeholder:"FILE"`
}

// Run implements the command.
func (c *secretCmd) Run() error { return terminal.Named("judge-secret", c.print()) }

func (c *secretCmd) print() error {
	config, err := app.LoadConfig(c.Config)
	if err != nil {
		return err
	}
	secret, path, err := app.JudgeSecret(config.Web)
	service := ""
	if config.Web.JudgeSecretFile == "" { // otherwise it is unclear which one is meant
		service = app.ServiceSecret(path)
	}
	here := strings.TrimSuffix(config.Web.PageURL(config.Web.Listen), "/") + "/pair"
	return printSecret(secret, path, "at "+here+" or, on another device, at the address that this page names", service, err)
}

// printSecret prints a judge's secret to standard output, and to standard error where it is stored
// and where to enter it. service is where the machine's service has another secret; "" if it has
// none.
func printSecret(secret, path, where, service string, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return terminal.Unanswered{Err: fmt.Errorf("%w; the same command with sudo reads it", err)}
	case err != nil:
		return terminal.Unanswered{Err: err}
	}
	fmt.Fprint(os.Stderr, secretNote(path, where, service))
	fmt.Println(secret)
	return nil
}

// secretNote says which secret is printed.
func secretNote(path, where, service string) string {
	note := fmt.Sprintf("sightline: the judge's secret, kept in %s; type it %s:\n", path, where)
	if service != "" {
		note = fmt.Sprintf("sightline: this is the secret of your own sightline run; the service on this machine has another, which sudo cat %s "+
			"prints\n", service) + note
	}
	return note
}

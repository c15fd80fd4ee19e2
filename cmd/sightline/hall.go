package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"time"

	"sightline/calibration/atomicfile"
	"sightline/cmd/internal/app"
	"sightline/cmd/internal/hall"
	"sightline/cmd/internal/pictures"
	"sightline/cmd/internal/terminal"
	"sightline/hardware"
)

// hallCmd is the group of commands about an event's hall.
type hallCmd struct {
	Run    hallRunCmd    `cmd:"" default:"withargs" help:"Run the hall: the tables' broker and the pages."`
	Invite hallInviteCmd `cmd:"" help:"Invite a table: print what it needs to join, which is secret, as text and as a QR code."`
	Revoke hallRevokeCmd `cmd:"" help:"End a table's invitation at once."`
	Tables hallTablesCmd `cmd:"" help:"List the tables that are invited."`
	Secret hallSecretCmd `cmd:"" name:"judge-secret" help:"Print the secret of the hall's judges, to type on its page."`
}

// hallState is the folder of a hall's state.
type hallState struct {
	State string `help:"Folder for invitations, rulings and secrets; without it, hall in the state directory." placeholder:"DIR"`
}

// invites opens the invitations.
func (s *hallState) invites() (*hall.Invites, error) {
	dir, err := app.HallDir(s.State)
	if err != nil {
		return nil, err
	}
	return hall.OpenInvites(dir, time.Now)
}

// notRunning warns that no hall is running with the folder, which may be the wrong one.
func (s *hallState) notRunning() {
	if dir, err := app.HallDir(s.State); err == nil && !hall.Runs(dir) {
		fmt.Fprintf(os.Stderr, "sightline: no hall runs with the folder %s now; if yours runs with another --state, name that one here\n", dir)
	}
}

// hallRunCmd runs a hall until it is stopped.
type hallRunCmd struct {
	hallState
	Listen string   `default:"localhost:8090" help:"Address of the pages alone. Default: ${default}, for this machine only; :8090 for everyone." placeholder:"HOST:PORT"`
	Tables string   `without:"broker" default:":4222" help:"Address of the tables' broker. Default: ${default}, which the whole network reaches but only invited tables may use; localhost:4222 for tables on this machine." placeholder:"HOST:PORT"`
	URL    string   `help:"Address at which tables reach the broker, tls://HOST:PORT. Default: this machine's first address." placeholder:"URL"`
	Broker string   `help:"Another NATS broker with JetStream, in place of the embedded one." placeholder:"URL"`
	SHA256 string   `needs:"broker" name:"sha256" help:"Fingerprint of the other broker's certificate. Without it, an authority must have signed the certificate." placeholder:"HEX"`
	Read   string   `enum:"open,paired" default:"open" help:"Who may see the pages: open (everyone who can reach them) or paired (judges only)."`
	Names  []string `help:"Further host names that the pages answer to." placeholder:"NAME"`
}

// Run implements the command.
func (c *hallRunCmd) Run(ctx context.Context) error {
	return app.RunHall(ctx, app.HallOptions{
		State: c.State, Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
		Web: app.Web{Listen: c.Listen, Names: c.Names, Read: c.Read},
		Hall: hall.Options{
			Listen: c.Listen, Tables: c.Tables, URL: c.URL, Broker: c.Broker, SHA256: c.SHA256, Version: version,
			Ready: func(pages, tables string) {
				fmt.Fprintf(os.Stderr, "sightline: the hall is on http://%s/, and tables join at %s; sightline hall invite 7%s invites table 7\n",
					pages, tables, app.StateFlag(c.State))
			},
		},
	})
}

// hallInviteCmd invites a table. It prints only the invitation to standard output.
type hallInviteCmd struct {
	hallState
	Table  string        `arg:"" help:"The table's name: letters, digits and hyphens, such as 7."`
	For    time.Duration `default:"96h" help:"How long the invitation is valid. Default: ${default}."`
	URL    string        `help:"Address at which the table reaches the broker. Default: what the hall reported when it ran." placeholder:"URL"`
	Output string        `short:"o" help:"Write the invitation to this file, which only you may read, and not to standard output." placeholder:"FILE"`
	PNG    string        `name:"png" help:"Write the QR code to this file as well." placeholder:"FILE"`
}

// Run implements the command.
func (c *hallInviteCmd) Run() error { return terminal.Named("hall invite", c.invite()) }

func (c *hallInviteCmd) invite() error {
	for _, file := range []struct{ option, path string }{{"-o", c.Output}, {"--png", c.PNG}} {
		if file.path == "" {
			continue
		}
		if err := pictures.CheckFile(file.option, file.path); err != nil {
			return err
		}
	}
	invites, err := c.invites()
	if err != nil {
		return err
	}
	i, err := invites.Invite(c.Table, c.URL, c.For)
	if err != nil {
		return err
	}
	text := i.String()
	rows := hardware.QR(text)
	if rows == nil {
		return errors.New("the invitation is too long for a QR code")
	}
	fmt.Fprintf(os.Stderr, "%ssightline: table %s may join until %s. Keep this secret: whoever has it speaks as the table.\n",
		terminalQR(rows), i.Table, i.Expires.Local().Format("2 January 15:04"))
	c.notRunning()
	if c.PNG != "" {
		data, err := pngQR(rows)
		if err == nil {
			err = atomicfile.Write(c.PNG, data, 0o600)
		}
		if err != nil {
			return err
		}
	}
	if c.Output != "" {
		if err := atomicfile.Write(c.Output, []byte(text+"\n"), 0o600); err != nil {
			return err
		}
		return nil
	}
	fmt.Println(text)
	return nil
}

// quiet is the width of the quiet zone that readers need, in modules.
const quiet = 4

// terminalQR draws a QR code for a terminal of any colours, two rows of modules per line.
func terminalQR(rows []string) string {
	dark := func(x, y int) bool {
		x, y = x-quiet, y-quiet
		return y >= 0 && y < len(rows) && x >= 0 && x < len(rows[y]) && rows[y][x] == '#'
	}
	var b strings.Builder
	size := len(rows) + 2*quiet
	for y := 0; y < size; y += 2 {
		b.WriteString("\x1b[30;47m")
		for x := range size {
			b.WriteString(map[[2]bool]string{{false, false}: " ", {true, false}: "▀", {false, true}: "▄", {true, true}: "█"}[[2]bool{dark(x, y),
				dark(x, y+1)}])
		}
		b.WriteString("\x1b[0m\n")
	}
	return b.String()
}

// modulePx is the size of a module in the picture.
const modulePx = 8

// pngQR draws a QR code as a PNG.
func pngQR(rows []string) ([]byte, error) {
	size := (len(rows) + 2*quiet) * modulePx
	m := image.NewPaletted(image.Rect(0, 0, size, size), color.Palette{color.White, color.Black})
	for y, row := range rows {
		for x, c := range row {
			for i := range modulePx * modulePx {
				if c == '#' {
					m.SetColorIndex((x+quiet)*modulePx+i%modulePx, (y+quiet)*modulePx+i/modulePx, 1)
				}
			}
		}
	}
	var buf bytes.Buffer
	err := png.Encode(&buf, m)
	return buf.Bytes(), err
}

// hallRevokeCmd revokes an invitation.
type hallRevokeCmd struct {
	hallState
	Table string `arg:"" help:"The table's name."`
}

// Run implements the command.
func (c *hallRevokeCmd) Run() error { return terminal.Named("hall revoke", c.revoke()) }

func (c *hallRevokeCmd) revoke() error {
	invites, err := c.invites()
	if err != nil {
		return err
	}
	if err := invites.Revoke(c.Table); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "sightline: table %s is no longer invited; a running hall sends it home within a second\n", c.Table)
	c.notRunning()
	return nil
}

// hallTablesCmd lists the valid invitations.
type hallTablesCmd struct{ hallState }

// Run implements the command.
func (c *hallTablesCmd) Run() error { return terminal.Named("hall tables", c.list()) }

func (c *hallTablesCmd) list() error {
	invites, err := c.invites()
	if err != nil {
		return err
	}
	valid, err := invites.Valid()
	if err != nil {
		return err
	}
	if len(valid) == 0 {
		fmt.Fprintln(os.Stderr, "sightline: no table is invited")
	}
	c.notRunning()
	for _, i := range valid {
		fmt.Printf("%s\tuntil %s\n", i.Table, i.Expires.Local().Format("2006-01-02 15:04"))
	}
	return nil
}

// hallSecretCmd prints the secret of a hall's judges.
type hallSecretCmd struct{ hallState }

// Run implements the command.
func (c *hallSecretCmd) Run() error { return terminal.Named("hall judge-secret", c.print()) }

func (c *hallSecretCmd) print() error {
	secret, path, err := app.HallSecret(c.State)
	if errors.Is(err, syscall.ENOTDIR) {
		return fmt.Errorf("--state: %w", err)
	}
	c.notRunning()
	return printSecret(secret, path, "on the hall's page", "", err)
}

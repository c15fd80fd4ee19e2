package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"sightline/calibration/regularfile"
	"sightline/cmd/internal/app"
	"sightline/cmd/internal/rulings"
	"sightline/cmd/internal/sentence"
	"sightline/cmd/internal/sheet"
	"sightline/cmd/internal/terminal"
)

// rulingsCmd is the group of commands that read the log of rulings.
type rulingsCmd struct {
	List   rulingsListCmd   `cmd:"" help:"List the rulings."`
	Verify rulingsVerifyCmd `cmd:"" help:"Check that nothing in the record was changed."`
	Export rulingsExportCmd `cmd:"" help:"Write one ruling as one HTML file, or the whole record as a zip."`
}

// rulingsLog says which log to read.
type rulingsLog struct {
	Rulings string `placeholder:"DIR" help:"The record's folder. Default: the one that the configuration names."`
	Config  string `placeholder:"FILE" help:"Configuration file. Default: sightline.toml, if it is there."`
}

// open opens the log for reading and prints its location to standard error. If the log does not
// exist or cannot be opened, the question cannot be answered.
func (c *rulingsLog) open() (*rulings.Log, error) {
	where := app.Rulings{Dir: c.Rulings}
	if c.Rulings == "" {
		config, err := app.LoadConfig(c.Config)
		if err != nil {
			return nil, err
		}
		where = config.Rulings
	}
	found := where.Find()
	l, err := rulings.Open(found.Dir, rulings.Options{ReadOnly: true})
	switch {
	case errors.Is(err, fs.ErrNotExist) && c.Rulings != "":
		return nil, fmt.Errorf("--rulings: %s: expected a log of rulings, with rulings.db in it", found.Dir)
	case errors.Is(err, fs.ErrNotExist):
		return nil, terminal.Unanswered{Err: fmt.Errorf("there are no rulings and no games yet; looked in %s", strings.Join(found.Looked, ", "))}
	case errors.Is(err, syscall.ENOTDIR):
		return nil, fmt.Errorf("%s: expected a folder with a log of rulings", found.Dir)
	case errors.Is(err, regularfile.ErrKind):
		return nil, err
	case err != nil:
		return nil, terminal.Unanswered{Err: err}
	}
	fmt.Fprintln(os.Stderr, "sightline: the rulings in", found.Dir)
	if err := l.Newer(); err != nil {
		fmt.Fprintf(os.Stderr, "sightline: %v: what it adds is not shown; sightline run would record nothing in it\n", err)
	}
	if dir := where.Earlier(); dir == found.Dir {
		fmt.Fprintf(os.Stderr, "sightline: an earlier version kept them there; sightline run keeps them in %s: move the folder there, or name "+
			"it as rulings.dir\n",
			where.Folder())
	}
	for _, dir := range found.Others {
		fmt.Fprintf(os.Stderr, "sightline: there are rulings in %s too: --rulings reads them\n", dir)
	}
	return l, nil
}

type rulingsListCmd struct {
	rulingsLog `embed:""`
	JSON       bool `name:"json" help:"Print one JSON document: the records as they are hashed."`
}

// Run implements the command.
func (c *rulingsListCmd) Run(ctx context.Context) error {
	return terminal.Named("rulings list", c.list(ctx, os.Stdout))
}

// listedJSON is a ruling in the list for programs.
type listedJSON struct {
	Hash      string          `json:"sha256"`
	Signature string          `json:"signature"` // in hex; "": none
	Damage    string          `json:"damage"`
	Record    json.RawMessage `json:"record"` // null when it is no JSON
}

func (c *rulingsListCmd) list(ctx context.Context, out io.Writer) error {
	l, err := c.open()
	if err != nil {
		return err
	}
	defer l.Close()
	head, err := l.Head(ctx)
	if err != nil {
		return terminal.Unanswered{Err: err}
	}
	doc := struct {
		Version int          `json:"version"`
		Head    rulings.Head `json:"head"`
		Rulings []listedJSON `json:"rulings"`
	}{1, head, []listedJSON{}}
	var g terminal.Grid
	g.Add("#", "TIME", "PAIR", "RULING", "DECISION", "JUDGE")
	damaged := 0
	const batch = 100
	for from := int64(1); ; {
		entries, err := l.Entries(ctx, from, batch)
		if err != nil {
			return terminal.Unanswered{Err: err}
		}
		for i := range entries {
			e := &entries[i]
			if e.Damage != "" && !e.Newer {
				damaged++
			}
			doc.Rulings = append(doc.Rulings, listed(e))
			g.Add(row(e)...)
		}
		if len(entries) < batch {
			break
		}
		from = entries[len(entries)-1].Number + 1
	}
	if c.JSON {
		if err := printJSON(out, doc); err != nil {
			return err
		}
	} else {
		w := bufio.NewWriter(out)
		_ = g.Print(w) // told when it is flushed
		fmt.Fprintf(w, "\nthe last is entry %d, %s\n", head.Number, head.Hash)
		if err := w.Flush(); err != nil {
			return err
		}
	}
	if damaged > 0 {
		return terminal.Unanswered{Err: fmt.Errorf("%d of them were changed since they were recorded: sightline rulings verify says more",
			damaged)}
	}
	return nil
}

func listed(e *rulings.Entry) listedJSON {
	raw := e.Canonical()
	if !json.Valid(raw) {
		raw = nil
	}
	return listedJSON{e.Hash, e.Signature, e.Damage, raw}
}

// row is a ruling in the list for people.
func row(e *rulings.Entry) []string {
	if e.Damage != "" {
		why := "CHANGED: "
		if e.Newer {
			why = "NOT READ: "
		}
		return []string{strconv.FormatInt(e.Number, 10), "", "", why + printable(e.Damage)}
	}
	pair, decision := "", "as measured"
	if e.From != "" {
		pair = e.From + " to " + e.To
	}
	if e.Decision != rulings.AsMeasured {
		decision = "by the judge"
	}
	title := e.Title
	if title == "" {
		title = e.Text
	}
	return []string{strconv.FormatInt(e.Number, 10), e.At.Local().Format("2006-01-02 15:04"), printable(pair), printable(title), decision,
		printable(e.Judge)}
}

// printable puts a person's text on one line, without control characters.
func printable(s string) string { return terminal.OneLine(errors.New(s)) }

func printJSON(out io.Writer, v any) error {
	doc, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return printLine(out, doc)
}

// printDoc prints a JSON document, or returns the error that it came with, named for the command.
func printDoc(out io.Writer, command string, doc []byte, err error) error {
	if err != nil {
		return terminal.Named(command, err)
	}
	return printLine(out, doc)
}

func printLine(out io.Writer, doc []byte) error {
	_, err := out.Write(append(doc, '\n'))
	return err
}

type rulingsVerifyCmd struct {
	rulingsLog `embed:""`
	Key        []string `placeholder:"KEY" help:"The recording machine's public key, as on an exported ruling, or machine for this one's: shows entries signed with other keys."`
	Head       []string `placeholder:"N:HASH" help:"A head noted earlier: entry and hash, such as 12:3f9a…. Shows whether entries have been removed since."`
	JSON       bool     `name:"json" help:"Print one JSON document."`
}

// Run implements the command.
func (c *rulingsVerifyCmd) Run(ctx context.Context) error {
	return terminal.Named("rulings verify", terminal.Progress(ctx, func(ctx context.Context, out, _ io.Writer) error {
		return c.verify(ctx, out)
	}))
}

func (c *rulingsVerifyCmd) verify(ctx context.Context, out io.Writer) error {
	var heads []rulings.Head
	for _, text := range c.Head {
		h, err := rulings.ParseHead(text)
		if err != nil {
			return fmt.Errorf("--head: %w", err)
		}
		heads = append(heads, h)
	}
	keys, err := c.keys()
	if err != nil {
		return err
	}
	l, err := c.open()
	if err != nil {
		return err
	}
	defer l.Close()
	report, err := l.VerifyBy(ctx, keys, heads...)
	if err != nil {
		return terminal.Unanswered{Err: err}
	}
	if c.JSON {
		if err := printJSON(out, struct {
			Version int `json:"version"`
			rulings.Report
		}{1, report}); err != nil {
			return err
		}
	} else if err := printReport(out, l.Dir(), &report); err != nil {
		return err
	}
	if !report.OK() {
		return terminal.Unanswered{Err: fmt.Errorf("%s: changed since it was recorded, in %s", l.Dir(), sentence.Counted(len(report.Findings),
			"place"))}
	}
	return nil
}

// keys returns the keys with which entries may be signed.
func (c *rulingsVerifyCmd) keys() ([]rulings.PublicKey, error) {
	var keys []rulings.PublicKey
	for _, text := range c.Key {
		var key rulings.PublicKey
		var err error
		if text == "machine" {
			key, _, err = app.Rulings{}.PublicKey()
		} else {
			key, err = rulings.ParsePublicKey(text)
		}
		if err != nil {
			return nil, fmt.Errorf("--key: %w", err)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

func printReport(out io.Writer, dir string, r *rulings.Report) error {
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, "%s: %s, %s", dir, strings.Replace(sentence.Counted(int(r.Entries), "entry"), "entrys", "entries", 1),
		sentence.Counted(r.Files, "file"))
	if r.Pruned > 0 {
		fmt.Fprintf(w, ", %s pruned for their age", sentence.Counted(r.Pruned, "picture"))
	}
	fmt.Fprintln(w)
	for _, f := range r.Findings {
		fmt.Fprintln(w, "CHANGED", printable(f.String()))
	}
	for _, n := range r.Notes {
		fmt.Fprintln(w, "note:", printable(n))
	}
	if r.OK() {
		fmt.Fprintln(w, "nothing was changed: every hash fits, each entry follows the one before it")
	}
	for _, key := range r.Keys {
		whose := ""
		if mine, _, err := (app.Rulings{}).PublicKey(); err == nil && mine == key {
			whose = ", this machine's"
		}
		fmt.Fprintf(w, "signed with key %s%s\n", key, whose)
	}
	if r.Head.Number > 0 {
		fmt.Fprintf(w, "head %d:%s\n", r.Head.Number, r.Head.Hash)
		if r.OK() {
			fmt.Fprintln(w, "write the head down elsewhere: without it, entries that were cut off at the end are not missed (--head checks it)")
		}
	}
	return w.Flush()
}

type rulingsExportCmd struct {
	rulingsLog `embed:""`
	Entry      int64  `arg:"" optional:"" help:"The entry to write as one HTML file; without it, the whole record as a zip."`
	Out        string `name:"output" aliases:"out" short:"o" required:"" placeholder:"FILE" help:"File to write, - for standard output."`
}

// Run implements the command.
func (c *rulingsExportCmd) Run(ctx context.Context) error {
	return terminal.Named("rulings export", terminal.Progress(ctx, func(ctx context.Context, out, _ io.Writer) error {
		return c.export(ctx, out)
	}))
}

func (c *rulingsExportCmd) export(ctx context.Context, out io.Writer) error {
	l, err := c.open()
	if err != nil {
		return err
	}
	defer l.Close()
	if c.Entry != 0 { // before a file is made
		if _, err := l.Entry(ctx, c.Entry); err != nil {
			return terminal.Unanswered{Err: err}
		}
	}
	write := func(w io.Writer) error {
		if c.Entry != 0 {
			return l.ExportHTML(ctx, w, c.Entry)
		}
		return l.ExportZip(ctx, w)
	}
	if c.Out == "-" {
		return write(out)
	}
	if err := sheet.Create(c.Out, write); err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, "wrote", c.Out)
	return err
}

package play

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html/template"
	"regexp"
	"strconv"
	"strings"
	"time"

	_ "embed"

	"sightline/cmd/internal/round"
)

// Forms are the formats in which a game can be exported.
var Forms = []string{"json", "csv", "html"}

// Export returns a game in one of [Forms], with its media type.
func Export(id int64, events []round.Event, form string) (data []byte, kind string, err error) {
	switch form {
	case "json":
		data, err = json.MarshalIndent(map[string]any{"version": 1, "id": id, "events": events}, "", " ")
		return append(data, '\n'), "application/json; charset=utf-8", err
	case "csv":
		data, err = table(events)
		return data, "text/csv; charset=utf-8", err
	case "html":
		data, err = sheet(id, events)
		return data, "text/html; charset=utf-8", err
	}
	return nil, "", fmt.Errorf("expected one of the forms %v, got %.40q", Forms, form)
}

// table returns a game as CSV, a line for each event.
func table(events []round.Event) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write([]string{"number", "at", "round", "phase", "kind", "by", "ship", "text", "says", "outcome", "move", "residual_mm",
		"residual_deg", "x_mm", "y_mm", "heading_deg", "sigma_mm", "counts"})
	g, err := round.Fold(events)
	if err != nil {
		return nil, err
	}
	gone := round.TakenBack(events)
	for i := range events {
		e := &events[i]
		line := []string{strconv.FormatInt(e.Number, 10), e.At.UTC().Format(time.RFC3339Nano), "", plain(string(e.Phase)), string(e.Kind),
			plain(e.By), plain(e.Ship), plain(round.Words(g, e)), "", "", "", "", "", "", "", "", "", strconv.FormatBool(!gone[e.Number])}
		if e.Round > 0 {
			line[2] = strconv.Itoa(e.Round)
		}
		if f := e.Flown; f != nil {
			number := func(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }
			line[8], line[9], line[10] = plain(strings.Join(f.Says, "; ")), f.Outcome, plain(f.Move)
			line[11], line[12] = number(f.ResidualMM), number(f.Residual)
			line[13], line[14], line[15], line[16] = number(f.To.X), number(f.To.Y), number(f.To.HeadingDeg), number(f.To.Sigma())
		}
		_ = w.Write(line)
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// formulas matches where a spreadsheet may start a formula: at the beginning, and after a
// semicolon, which separates columns in many countries.
var formulas = regexp.MustCompile(`(^|;)(\s*)([=+@-])`)

// plain makes a text safe for spreadsheets, which could take it for a formula, and terminals.
func plain(s string) string { return formulas.ReplaceAllString(printable(s), "$1$2'$3") }

//go:embed export.html
var exportText string

var exportPage = template.Must(template.New("game").Parse(exportText))

type exportRound struct {
	Number int
	Lines  []exportLine
}

type exportLine struct {
	At   string
	Text string
	More string
	Gone bool
}

// sheet returns a game as one HTML page without scripts.
func sheet(id int64, events []round.Event) ([]byte, error) {
	g, err := round.Fold(events)
	if err != nil {
		return nil, err
	}
	gone := round.TakenBack(events)
	rounds := []exportRound{{Number: 1}}
	for i := range events {
		e := &events[i]
		text := round.Words(g, e)
		if text == "" {
			continue
		}
		line := exportLine{At: e.At.Format("15:04:05"), Text: text, Gone: gone[e.Number]}
		if e.Flown != nil {
			line.More = strings.Join(e.Flown.Says, "; ")
		}
		last := &rounds[len(rounds)-1]
		last.Lines = append(last.Lines, line)
		if e.Kind == round.Advanced && e.Phase == round.End && !line.Gone {
			rounds = append(rounds, exportRound{Number: e.Round + 1})
		}
	}
	var b bytes.Buffer
	err = exportPage.Execute(&b, map[string]any{"ID": id, "Game": g, "Title": g.Title(), "Score": g.Score(), "Rounds": rounds,
		"At": events[0].At.Format("2 January 2006, 15:04")})
	return b.Bytes(), err
}

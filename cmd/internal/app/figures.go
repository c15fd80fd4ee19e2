package app

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"sightline/cmd/internal/metrics"
	"sightline/cmd/internal/rulings"
)

// figures returns the program's and the machine's own metrics, which /metrics appends to the
// page's.
func figures(version string, record *judges, dataDir string) []func(io.Writer) {
	folders := map[string]string{"rulings": record.dir, "calibrations": dataDir}
	return []func(io.Writer){
		func(w io.Writer) { metrics.Build(w, version) },
		func(w io.Writer) { metrics.Machine(w, os.DirFS("/"), folders) },
		record.figures,
	}
}

// figures writes the number of recorded rulings.
func (j *judges) figures(w io.Writer) {
	head, err := j.head(context.Background())
	if err == nil {
		metrics.Write(w, "sightline_rulings_total", "counter", "Rulings in the record.", float64(head.Number))
	}
	readable := 1.0
	if err != nil {
		readable = 0
	}
	metrics.Write(w, "sightline_rulings_readable", "gauge", "1 while the record can be read.", readable)
}

// head returns the record's head. It creates nothing and takes no lock.
func (j *judges) head(ctx context.Context) (rulings.Head, error) {
	j.mu.Lock()
	l := j.open
	j.mu.Unlock()
	if l == nil {
		var err error
		l, err = rulings.Open(j.dir, rulings.Options{ReadOnly: true})
		if errors.Is(err, fs.ErrNotExist) {
			return rulings.Head{}, nil
		}
		if err != nil {
			return rulings.Head{}, err
		}
		defer l.Close()
	}
	return l.Head(ctx)
}

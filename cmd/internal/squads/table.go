package squads

import (
	_ "embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"sightline/calibration/regularfile"
)

//go:embed data/first-edition.json
var firstJSON []byte

//go:embed data/second-edition.json
var secondJSON []byte

// Notice is the licence of the data that the tables are made from.
//
//go:embed data/NOTICE
var Notice string

// Data are the ships of both editions.
type Data struct{ First, Second *Table }

// Builtin returns the data that the program includes.
var Builtin = sync.OnceValue(func() Data {
	var d Data
	for _, t := range []struct {
		name string
		json []byte
		into **Table
	}{{"first", firstJSON, &d.First}, {"second", secondJSON, &d.Second}} {
		var err error
		if *t.into, err = parseFacts(t.json); err != nil {
			panic("squads: the built-in table of the " + t.name + " edition: " + err.Error())
		}
	}
	return d
})

// The limits of a user's data. The largest file of xwing-data2 has a tenth of the first, and it has
// a tenth as many ships as the second.
const (
	maxDataFile  = 4 << 20
	maxDataFiles = 2000
)

// Load reads a user's own data: a clone of xwing-data2 (or its folder data), or a table written by
// the generator. What these do not contain, such as the first edition, is taken from the built-in
// data.
func Load(path string) (Data, error) {
	d := Builtin()
	t, err := Read(path)
	if err != nil {
		return Data{}, err
	}
	if t.Edition == First {
		d.First = t
	} else {
		d.Second = t
	}
	return d, nil
}

// Read reads one table, in any form that [Load] accepts.
func Read(path string) (*Table, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return readClone(path)
	}
	data, err := regularfile.Read(path, maxDataFile)
	if err != nil {
		return nil, err
	}
	t, err := parseFacts(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// readClone reads the ships of a clone of xwing-data2: a file in data/pilots for each ship of each
// faction.
func readClone(dir string) (*Table, error) {
	pilots := filepath.Join(dir, "data", "pilots")
	if _, err := os.Stat(pilots); err != nil {
		pilots = filepath.Join(dir, "pilots")
	}
	if _, err := os.Stat(pilots); err != nil {
		return nil, fmt.Errorf("%s: expected a clone of xwing-data2, with the folder data/pilots in it", dir)
	}
	t := &Table{Edition: Second, Source: "a clone of xwing-data2"}
	files := 0
	err := filepath.WalkDir(pilots, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".json") {
			return err
		}
		if files++; files > maxDataFiles {
			return fmt.Errorf("%s: expected at most %d files", pilots, maxDataFiles)
		}
		data, err := regularfile.Read(path, maxDataFile)
		if err != nil {
			return err
		}
		s, err := parseCloneShip(data)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		t.Ships = append(t.Ships, s)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", pilots, err)
	}
	return t, nil
}

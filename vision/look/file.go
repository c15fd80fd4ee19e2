package look

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sightline/calibration/atomicfile"
	"sightline/calibration/regularfile"
	"sightline/calibration/strictjson"
	"sightline/engine"
	"sightline/engine/geom"
)

// A look is two files in a folder: NAME.json describes the card, and NAME.png shows it. The picture's colours are those of
// the cells, its opacity is their weight.

const (
	fileVersion = 1
	maxFile     = 1 << 20 // bytes of either file
	maxLooks    = 200     // in a folder
)

type lookFile struct {
	Version int      `json:"version"`
	Ships   []string `json:"ships"`
	Base    string   `json:"base"`
	Pilot   string   `json:"pilot,omitempty"`
	Z       float64  `json:"z_mm"`
	Cell    float64  `json:"cell_mm"`
	Color   bool     `json:"color"`
	Views   int      `json:"views"`
	Scale   float64  `json:"px_per_mm"`
	// How well the base's pose was known. Older files lack it, which means KnownBySay.
	Jig     *float64 `json:"jig_mm,omitempty"`
	JigTurn *float64 `json:"jig_deg,omitempty"`
	// The number on its ID tokens, row by row from the top, and the scale along the base at which it was seen. Absent: it was
	// not seen.
	Number      []byte  `json:"number,omitempty"`
	NumberScale float64 `json:"number_px_per_mm,omitempty"`
}

// Encode returns the two files of a look.
func (l *Look) Encode() (doc, picture []byte, err error) {
	jig, turn := float64(l.Known.Place), l.Known.Turn.Degrees()
	doc, err = json.MarshalIndent(lookFile{fileVersion, l.Ships, l.Base.String(), l.Pilot, float64(l.Z), cellMM, l.Color, l.Views, l.Scale,
		&jig, &turn, l.number.levels(), l.number.scale}, "", " ")
	if err != nil {
		return nil, nil, err
	}
	img := image.NewNRGBA(image.Rect(0, 0, l.side, l.side))
	for k, w := range l.weight {
		b, g, r := l.cells[channels*k], l.cells[channels*k+1], l.cells[channels*k+2]
		img.SetNRGBA(k%l.side, k/l.side, color.NRGBA{level(r), level(g), level(b), level(255 * w)})
	}
	var out bytes.Buffer
	err = png.Encode(&out, img)
	return append(doc, '\n'), out.Bytes(), err
}

func level(v float32) uint8 { return uint8(min(max(v+0.5, 0), 255)) }

// Decode reads a look from its two files. Its errors name the key or the fault of the picture.
func Decode(name string, doc, picture []byte) (*Look, error) {
	var f lookFile
	if err := strictjson.Decode(doc, &f); err != nil {
		return nil, fmt.Errorf("not a look: %w", err)
	}
	base, err := engine.ParseBase(f.Base)
	switch {
	case f.Version != fileVersion:
		return nil, fmt.Errorf("version: expected %d, got %d", fileVersion, f.Version)
	case err != nil:
		return nil, err
	case f.Cell != cellMM:
		return nil, fmt.Errorf("cell_mm: expected %v, got %v", cellMM, f.Cell)
	}
	l := &Look{Name: name, Ships: f.Ships, Base: base, Pilot: f.Pilot, Known: KnownBySay, Z: geom.Length(f.Z), Color: f.Color, Views: f.Views,
		Scale: f.Scale}
	if f.Jig != nil {
		l.Known.Place = geom.Length(*f.Jig)
	}
	if f.JigTurn != nil {
		l.Known.Turn = geom.Angle(*f.JigTurn) * geom.Degree
	}
	if err := l.check(); err != nil {
		return nil, err
	}
	if l.number, err = faceOf(f.Number, f.NumberScale); err != nil {
		return nil, err
	}
	l.side = sideOf(base)
	return l, l.readPicture(picture)
}

// readPicture takes the cells from a picture.
func (l *Look) readPicture(raw []byte) error {
	c, err := png.DecodeConfig(bytes.NewReader(raw)) // before memory is spent on its size
	if err != nil {
		return fmt.Errorf("its picture: %w", err)
	}
	if c.ColorModel != color.NRGBAModel {
		return errors.New("its picture: expected 8 bits a channel with opacity")
	}
	if c.Width != l.side || c.Height != l.side {
		return fmt.Errorf("its picture: expected %d×%d pixels for a %v base, got %d×%d",
			l.side, l.side, l.Base, c.Width, c.Height)
	}
	img, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("its picture: %w", err)
	}
	p, ok := img.(*image.NRGBA)
	if !ok {
		return errors.New("its picture: expected 8 bits a channel with opacity")
	}
	l.cells, l.weight = make([]float32, channels*l.side*l.side), make([]float32, l.side*l.side)
	for k := range l.weight {
		v := p.Pix[k/l.side*p.Stride+4*(k%l.side):]
		for c := range channels {
			l.cells[channels*k+c] = float32(v[2-c])
		}
		l.weight[k] = float32(v[3]) / 255
	}
	if why := l.untelling(); why != "" {
		return fmt.Errorf("its picture: %s", why)
	}
	return nil
}

// libraryFile is a document of several looks, each with its name, its description and its picture.
type libraryFile struct {
	Version int            `json:"version"`
	Looks   []libraryEntry `json:"looks"`
}

type libraryEntry struct {
	Name    string          `json:"name"`
	Of      json.RawMessage `json:"of"`      // as in NAME.json
	Picture []byte          `json:"picture"` // PNG, in base64
}

// Encode returns one document with all looks.
func (b *Library) Encode() ([]byte, error) {
	f := libraryFile{Version: fileVersion, Looks: []libraryEntry{}}
	for _, l := range b.Looks {
		doc, picture, err := l.Encode()
		if err != nil {
			return nil, fmt.Errorf("look: %s: %w", l.Name, err)
		}
		f.Looks = append(f.Looks, libraryEntry{l.Name, doc, picture})
	}
	return json.Marshal(f)
}

// DecodeLibrary reads what Encode wrote. The errors name the look, or the key.
func DecodeLibrary(raw []byte) (*Library, error) {
	var f libraryFile
	if err := strictjson.Decode(raw, &f); err != nil {
		return nil, fmt.Errorf("looks: %w", err)
	}
	switch {
	case f.Version != fileVersion:
		return nil, fmt.Errorf("looks: version: expected %d, got %d", fileVersion, f.Version)
	case len(f.Looks) > maxLooks:
		return nil, fmt.Errorf("looks: expected at most %d, got %d", maxLooks, len(f.Looks))
	}
	var b Library
	for i, e := range f.Looks {
		err := CheckName(e.Name)
		if err == nil && slices.ContainsFunc(b.Looks, func(l *Look) bool { return l.Name == e.Name }) {
			err = errors.New("it appears twice")
		}
		var l *Look
		if err == nil {
			l, err = Decode(e.Name, e.Of, e.Picture)
		}
		if err != nil {
			return nil, fmt.Errorf("looks[%d]: %.60q: %w", i, e.Name, err)
		}
		b.Looks = append(b.Looks, l)
	}
	return &b, nil
}

// Only returns the looks with these names, as far as they are known.
func (b *Library) Only(names []string) *Library {
	var out Library
	for _, l := range b.Looks {
		if slices.Contains(names, l.Name) {
			out.Looks = append(out.Looks, l)
		}
	}
	return &out
}

// Save writes a look into a folder, which it creates if necessary. It replaces a look of the same name.
func (l *Look) Save(dir string) error {
	doc, picture, err := l.Encode()
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = writeBoth(atomicfile.OS{}, filepath.Join(dir, l.Name), doc, picture)
	}
	if err != nil {
		return fmt.Errorf("look: %s: %w", l.Name, err)
	}
	return nil
}

// writeBoth replaces the two files of a look. What a full disk has no room for replaces neither: a new picture with an old description
// would be a card that there never was.
func writeBoth(disk atomicfile.Disk, path string, doc, picture []byte) error {
	p, err := atomicfile.Prepare(disk, path+".png", picture, 0o644)
	if err != nil {
		return err
	}
	d, err := atomicfile.Prepare(disk, path+".json", doc, 0o644)
	if err != nil {
		p.Discard()
		return err
	}
	if err := p.Commit(); err != nil {
		d.Discard()
		return err
	}
	return d.Commit() // Load searches for this one, so it comes last
}

// Load reads all looks of a folder. Its errors name the file. A missing folder is fs.ErrNotExist.
func Load(dir string) (*Library, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("look: %w", err)
	}
	var b Library
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || strings.HasPrefix(name, ".") {
			continue
		}
		if len(b.Looks) == maxLooks {
			return nil, fmt.Errorf("look: %s: expected at most %d looks", dir, maxLooks)
		}
		path := filepath.Join(dir, e.Name())
		l, err := read(dir, name)
		if err != nil {
			return nil, fmt.Errorf("look: %s: %v", path, err) // not wrapped: a missing picture is not a missing folder
		}
		b.Looks = append(b.Looks, l)
	}
	slices.SortFunc(b.Looks, func(a, b *Look) int { return strings.Compare(a.Name, b.Name) })
	return &b, nil
}

// read reads the two files of one look.
func read(dir, name string) (*Look, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	doc, err := regularfile.Read(filepath.Join(dir, name+".json"), maxFile)
	if err != nil {
		return nil, plain(err)
	}
	picture, err := regularfile.Read(filepath.Join(dir, name+".png"), maxFile)
	if err != nil {
		return nil, fmt.Errorf("its picture %s.png: %w", name, plain(err))
	}
	return Decode(name, doc, picture)
}

// plain removes the path from a file's error, because the caller names it.
func plain(err error) error {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

package look

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
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

// A look is two files in a folder: NAME.json describes the card and names its picture by a hash, and NAME-HASH.png shows it. The
// picture's colours are those of the cells, its opacity is their weight. The description makes the look exist, and is replaced last:
// whenever the power fails, it is there with its own picture. Descriptions of earlier versions name no hash; theirs is NAME.png.
//
// A look that was renamed names the description that it replaces, also by a hash. While both are there, the replaced one counts for
// nothing: a card never has two names.

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
	Picture     string  `json:"picture_sha256,omitempty"`  // in a folder: the SHA-256 of the picture's file
	Replaces    string  `json:"replaces_sha256,omitempty"` // of a renamed look: the SHA-256 of the description under its earlier name
}

// Encode returns the two files of a look.
func (l *Look) Encode() (doc, picture []byte, err error) {
	if picture, err = l.encodePicture(); err == nil {
		doc, err = l.describe("", "")
	}
	return doc, picture, err
}

// describe returns the description, which names the picture, and the description that it replaces, by their hashes; "": names none.
func (l *Look) describe(picture, replaces string) ([]byte, error) {
	jig, turn := float64(l.Known.Place), l.Known.Turn.Degrees()
	doc, err := json.MarshalIndent(lookFile{fileVersion, l.Ships, l.Base.String(), l.Pilot, float64(l.Z), cellMM, l.Color, l.Views, l.Scale,
		&jig, &turn, l.number.levels(), l.number.scale, picture, replaces}, "", " ")
	return append(doc, '\n'), err
}

// encodePicture returns the picture as PNG.
func (l *Look) encodePicture() ([]byte, error) {
	img := image.NewNRGBA(image.Rect(0, 0, l.side, l.side))
	for k, w := range l.weight {
		b, g, r := l.cells[channels*k], l.cells[channels*k+1], l.cells[channels*k+2]
		img.SetNRGBA(k%l.side, k/l.side, color.NRGBA{level(r), level(g), level(b), level(255 * w)})
	}
	var out bytes.Buffer
	err := png.Encode(&out, img)
	return out.Bytes(), err
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
	case f.Picture != "" && f.Picture != hashOf(picture):
		return nil, errors.New("its picture is not the one that was saved with it")
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

// Save writes a look into a folder, which it creates if necessary. It replaces a look of the same name, whole or not at all.
func (l *Look) Save(dir string) error {
	err := atomicfile.MkdirAll(atomicfile.OS{}, dir, 0o755)
	if err == nil {
		err = l.save(atomicfile.OS{}, dir, "")
	}
	if err != nil {
		return fmt.Errorf("look: %s: %w", l.Name, err)
	}
	return nil
}

// Rename writes a look into a folder under its name, in place of the look that has an earlier name there. Whenever the power fails, one of
// the two counts.
func (l *Look) Rename(dir, was string) error {
	if err := l.rename(atomicfile.OS{}, dir, was); err != nil {
		return fmt.Errorf("look: %s: %w", l.Name, err)
	}
	return nil
}

func (l *Look) rename(disk atomicfile.Disk, dir, was string) error {
	if err := CheckName(was); err != nil {
		return err
	}
	doc, err := regularfile.Read(filepath.Join(dir, was+".json"), maxFile)
	if err == nil {
		err = l.save(disk, dir, hashOf(doc))
	}
	if err == nil {
		err = remove(disk, dir, was)
	}
	return err
}

// save writes the two files, the picture first, and removes the pictures that were the look's before. replaces is the hash of the
// description that this one replaces; "": none.
func (l *Look) save(disk atomicfile.Disk, dir, replaces string) error {
	picture, err := l.encodePicture()
	if err != nil {
		return err
	}
	hash := hashOf(picture)
	doc, err := l.describe(hash, replaces)
	if err == nil {
		err = removeReplaced(disk, dir, l.Name)
	}
	if err != nil {
		return err
	}
	// Both find room on the disk before either gets its name.
	p, err := atomicfile.Prepare(disk, filepath.Join(dir, pictureName(l.Name, hash)), picture, 0o644)
	if err != nil {
		return err
	}
	d, err := atomicfile.Prepare(disk, filepath.Join(dir, l.Name+".json"), doc, 0o644)
	if err != nil {
		p.Discard()
		return err
	}
	if err := p.Commit(); err != nil {
		d.Discard()
		return err
	}
	if err := d.Commit(); err != nil {
		return err
	}
	removePictures(disk, dir, l.Name, pictureName(l.Name, hash))
	return nil
}

func hashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// hashDigits is how many digits of a picture's hash its file's name has.
const hashDigits = 12

// pictureName returns the name of a picture's file; hash is "" in descriptions of earlier versions.
func pictureName(name, hash string) string {
	if hash == "" {
		return name + ".png"
	}
	return name + "-" + hash[:min(len(hash), hashDigits)] + ".png"
}

// removePictures removes all pictures of a look except one; "": all. What cannot be removed stays, and no description names it.
func removePictures(disk atomicfile.Disk, dir, name, except string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		hash, ok := strings.CutPrefix(strings.TrimSuffix(e.Name(), ".png"), name+"-")
		own := e.Name() == name+".png" || ok && len(hash) == hashDigits && strings.Trim(hash, "0123456789abcdef") == ""
		if own && ok { // unless an earlier version saved a look with such a name
			_, err := os.Lstat(filepath.Join(dir, name+"-"+hash+".json"))
			own = errors.Is(err, fs.ErrNotExist)
		}
		if own && e.Name() != except {
			_ = disk.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// Remove removes a look from a folder. A look that is not there is fs.ErrNotExist.
func Remove(dir, name string) error { return remove(atomicfile.OS{}, dir, name) }

func remove(disk atomicfile.Disk, dir, name string) error {
	err := CheckName(name)
	if err == nil {
		err = removeReplaced(disk, dir, name)
	}
	if err == nil {
		err = disk.Remove(filepath.Join(dir, name+".json")) // this file makes the look exist
	}
	if err == nil {
		err = disk.SyncDir(dir)
	}
	if err == nil {
		removePictures(disk, dir, name, "")
	}
	return err
}

// removeReplaced removes what a rename to a name left under the earlier name when the power failed: without the description that replaces
// it, it would count again.
func removeReplaced(disk atomicfile.Disk, dir, name string) error {
	doc, err := regularfile.Read(filepath.Join(dir, name+".json"), maxFile)
	var f lookFile
	if err != nil || strictjson.Decode(doc, &f) != nil || f.Replaces == "" {
		return nil // what cannot be read replaces nothing
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		was, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || was == name || CheckName(was) != nil {
			continue
		}
		if doc, err := regularfile.Read(filepath.Join(dir, e.Name()), maxFile); err != nil || hashOf(doc) != f.Replaces {
			continue
		}
		if err := disk.Remove(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
		removePictures(disk, dir, was, "")
	}
	return disk.SyncDir(dir)
}

// PictureFile returns the path of the picture of a look in a folder.
func PictureFile(dir, name string) (string, error) {
	doc, err := regularfile.Read(filepath.Join(dir, name+".json"), maxFile)
	if err != nil {
		return "", err
	}
	var f lookFile
	if err := strictjson.Decode(doc, &f); err != nil {
		return "", fmt.Errorf("not a look: %w", err)
	}
	return filepath.Join(dir, pictureName(name, f.Picture)), nil
}

// Load reads all looks of a folder. A look that cannot be read is listed in Damaged. Errors name the folder; a missing one is
// fs.ErrNotExist.
func Load(dir string) (*Library, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("look: %w", err)
	}
	var b Library
	replaced, docs := map[string]string{}, map[string]string{} // which look replaces a description, by its hash; the hashes by name
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || strings.HasPrefix(name, ".") {
			continue
		}
		if len(b.Looks)+len(b.Damaged) == maxLooks {
			return nil, fmt.Errorf("look: %s: expected at most %d looks", dir, maxLooks)
		}
		r := read(dir, name)
		docs[name] = r.hash
		if r.err != nil {
			b.Damaged = append(b.Damaged, Damage{name, r.base, fmt.Errorf("%s: %w", filepath.Join(dir, e.Name()), r.err)})
			continue
		}
		b.Looks = append(b.Looks, r.look)
		if r.replaces != "" {
			replaced[r.replaces] = r.look.Name
		}
	}
	hidden := func(name string) bool {
		by := replaced[docs[name]]
		if by != "" {
			b.Hidden = append(b.Hidden, Hidden{name, by})
		}
		return by != ""
	}
	b.Looks = slices.DeleteFunc(b.Looks, func(l *Look) bool { return hidden(l.Name) })
	b.Damaged = slices.DeleteFunc(b.Damaged, func(d Damage) bool { return hidden(d.Name) })
	slices.SortFunc(b.Looks, func(a, b *Look) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(b.Damaged, func(a, b Damage) int { return strings.Compare(a.Name, b.Name) })
	return &b, nil
}

// onDisk is what the two files of a look hold.
type onDisk struct {
	look           *Look
	base           engine.Base // as far as the description tells
	hash, replaces string      // of the description, and of the one that it replaces; "": it cannot be read, or replaces none
	err            error       // why there is no look
}

// read reads the two files of one look.
func read(dir, name string) (r onDisk) {
	if r.err = CheckName(name); r.err != nil {
		return r
	}
	doc, err := regularfile.Read(filepath.Join(dir, name+".json"), maxFile)
	if err != nil {
		r.err = plain(err)
		return r
	}
	r.hash = hashOf(doc)
	var f lookFile
	if err := strictjson.Decode(doc, &f); err != nil {
		r.err = fmt.Errorf("not a look: %w", err)
		return r
	}
	r.base, _ = engine.ParseBase(f.Base)
	r.replaces = f.Replaces
	file := pictureName(name, f.Picture)
	picture, err := regularfile.Read(filepath.Join(dir, file), maxFile)
	if err != nil {
		r.err = fmt.Errorf("its picture %s: %w", file, plain(err))
		return r
	}
	r.look, r.err = Decode(name, doc, picture)
	return r
}

// plain removes the path from a file's error, because the caller names it.
func plain(err error) error {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

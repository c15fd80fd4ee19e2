package rulings

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"sightline/calibration/atomicfile"
	"sightline/calibration/regularfile"
)

// Role is the role of a file in an entry.
type Role string

// The roles, in the order in which a record lists them.
const (
	RoleFrame       Role = "frame"       // the picture that was measured: PNG, 8 bit grey, lossless
	RoleColor       Role = "color"       // the same picture for people: JPEG
	RoleCalibration Role = "calibration" // the table file
	RoleLens        Role = "lens"        // the lens file, when it is a separate one
	RoleCatalogue   Role = "catalogue"   // the obstacles that may lie there
	RoleEmptyMat    Role = "empty_mat"   // the background picture for the obstacle search
	RoleLooks       Role = "looks"       // the cards by which ships were found; since version 2 of the record
)

var roles = [...]Role{RoleFrame, RoleColor, RoleCalibration, RoleLens, RoleCatalogue, RoleEmptyMat, RoleLooks}

func (r Role) order() int { return slices.Index(roles[:], r) }

// picture reports whether the file is pruned with age.
func (r Role) picture() bool { return r == RoleFrame || r == RoleColor }

// Files are the files behind a ruling; absent ones are nil. A Frame needs the Calibration that it
// was measured with.
type Files struct {
	Frame       *image.Gray // the picture that was measured; bounds start at (0, 0)
	Color       image.Image // the same in colour, or nil
	Calibration []byte      // the table file
	Lens        []byte
	Catalogue   []byte
	EmptyMat    []byte
	Looks       []byte // from look.Library.Encode
}

// FileRef names a file of an entry.
type FileRef struct {
	Role   Role   `json:"role"`
	SHA256 string `json:"sha256"` // of its bytes, in lower-case hex
	Bytes  int64  `json:"bytes"`
	Type   string `json:"type"` // media type
}

// extensions of the media types in a log.
var extensions = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "application/json": ".json", "application/yaml": ".yaml",
}

// Path returns the file's path in the log's folder, with slashes.
func (f FileRef) Path() string {
	return filesDir + "/" + f.SHA256[:2] + "/" + f.SHA256 + extensions[f.Type]
}

func (f FileRef) validate() error {
	switch {
	case f.Role.order() < 0:
		return fmt.Errorf("role: expected one of %v, got %q", roles, f.Role)
	case !isHash(f.SHA256):
		return fmt.Errorf("sha256: expected a SHA-256 in hex, got %q", f.SHA256)
	case f.Bytes < 1:
		return fmt.Errorf("bytes: expected at least 1, got %d", f.Bytes)
	case extensions[f.Type] == "":
		return fmt.Errorf("type: expected a media type of pictures, JSON or YAML, got %q", f.Type)
	}
	return nil
}

const (
	filesDir = "files"
	maxFile  = 256 << 20
	// jpegQuality is for people: measured answers come from the lossless picture.
	jpegQuality = 88
)

// content is a file to store.
type content struct {
	ref FileRef
	raw []byte
}

// contents encodes the files behind a ruling.
func (f *Files) contents() ([]content, error) {
	var out []content
	add := func(role Role, mediaType string, raw []byte) {
		out = append(out, content{FileRef{role, hashOf(raw), int64(len(raw)), mediaType}, raw})
	}
	if f.Frame != nil {
		if f.Calibration == nil {
			return nil, refuse("calibration: expected the one that the picture was measured with")
		}
		raw, err := encodeFrame(f.Frame)
		if err != nil {
			return nil, refuse("frame: %v", err)
		}
		add(RoleFrame, "image/png", raw)
	}
	if f.Color != nil {
		var b bytes.Buffer
		if err := jpeg.Encode(&b, f.Color, &jpeg.Options{Quality: jpegQuality}); err != nil {
			return nil, refuse("colour picture: %v", err)
		}
		add(RoleColor, "image/jpeg", b.Bytes())
	}
	for _, x := range []struct {
		role Role
		raw  []byte
	}{{RoleCalibration, f.Calibration}, {RoleLens, f.Lens}, {RoleCatalogue, f.Catalogue}, {RoleEmptyMat, f.EmptyMat}, {RoleLooks, f.Looks}} {
		if x.raw == nil {
			continue
		}
		mediaType := sniff(x.raw)
		if mediaType == "" || (mediaType == "image/png") != (x.role == RoleEmptyMat) || len(x.raw) > maxFile {
			return nil, refuse("%s: expected the file's own bytes, got %d bytes of something else", x.role, len(x.raw))
		}
		add(x.role, mediaType, x.raw)
	}
	return out, nil
}

// encodeFrame encodes a picture without loss. The fastest level already halves a camera's
// picture; slower ones take five times as long for another tenth.
func encodeFrame(g *image.Gray) ([]byte, error) {
	if g.Rect.Min != (image.Point{}) || g.Rect.Empty() {
		return nil, fmt.Errorf("expected a picture that begins at (0, 0), got %v", g.Rect)
	}
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := encoder.Encode(&b, g); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// sniff returns a file's media type from its beginning; "" when unknown.
func sniff(raw []byte) string {
	switch start := bytes.TrimSpace(raw[:min(len(raw), 64)]); {
	case bytes.HasPrefix(raw, []byte("\x89PNG")):
		return "image/png"
	case bytes.HasPrefix(start, []byte("{")):
		return "application/json"
	case len(start) > 0:
		return "application/yaml"
	}
	return ""
}

// store keeps files under the hash of their content.
type store struct {
	dir  string // the log's
	disk atomicfile.Disk
}

// put writes a file atomically and syncs the folders up to the log's. It keeps an intact file
// that is already there, and renames a damaged one, as evidence.
func (s *store) put(c content) error {
	path := s.path(c.ref)
	switch raw, err := regularfile.Read(path, maxFile); {
	case err == nil && hashOf(raw) == c.ref.SHA256:
		return s.syncUp(path) // an earlier write may have been interrupted
	case err == nil:
		if err := s.disk.Rename(path, fmt.Sprintf("%s.damaged-%.8s", path, hashOf(raw))); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	dir := filepath.Dir(path)
	for _, d := range []string{filepath.Dir(dir), dir} { // the log's own is there, or was moved away
		if err := s.disk.Mkdir(d, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	p, err := atomicfile.Prepare(s.disk, path, c.raw, 0o644)
	if err != nil {
		return err
	}
	if err := p.Commit(); err != nil {
		return err
	}
	return s.syncUp(path)
}

// syncUp makes a file's name durable: it syncs its folder, the files' folder and the log's.
func (s *store) syncUp(path string) error {
	for _, dir := range []string{filepath.Dir(path), filepath.Join(s.dir, filesDir), s.dir} {
		if err := s.disk.SyncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

func (s *store) path(f FileRef) string { return filepath.Join(s.dir, filepath.FromSlash(f.Path())) }

// get reads a file. found is its hash when it differs from the reference.
func (s *store) get(f FileRef) (raw []byte, found string, err error) {
	file, err := regularfile.Open(s.path(f))
	if err != nil {
		return nil, "", err
	}
	defer file.Close()
	raw, err = io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, "", err
	}
	if h := hashOf(raw); h != f.SHA256 || int64(len(raw)) != f.Bytes {
		return raw, h, nil
	}
	return raw, "", nil
}

// removeTemporary removes the files of interrupted writes. Only the writer may call it.
func (s *store) removeTemporary() {
	filepath.WalkDir(filepath.Join(s.dir, filesDir), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && atomicfile.IsTemporary(d.Name()) {
			s.disk.Remove(path)
		}
		return nil
	})
}

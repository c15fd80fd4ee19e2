package capture

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"sightline/calibration/regularfile"
	"sightline/calibration/strictjson"
	"sightline/vision"
)

// RecordingName is the file that makes a directory of pictures a recording. Each line is a JSON
// object: the first a RecordingHeader, every further one a Recorded.
const RecordingName = "recording.jsonl"

// recordingVersion rises when a meaning changes.
const recordingVersion = 1

// recordingMost is the largest accepted size of a RecordingName, in bytes.
const recordingMost = 256 << 20

// RecordingHeader describes a recording.
type RecordingHeader struct {
	Version     int       `json:"version"`
	Program     string    `json:"program"`               // the version of the program that recorded it
	Source      string    `json:"source"`                // as --source names it
	Started     time.Time `json:"started"`               // when the first picture was taken
	Calibration string    `json:"calibration,omitempty"` // the table file, in the same directory
	Note        string    `json:"note,omitempty"`        // a person's remark
}

// Recorded is one picture of a recording.
type Recorded struct {
	File  string          `json:"file"`            // in the same directory
	AtMS  int64           `json:"at_ms"`           // since the first picture
	Scene json.RawMessage `json:"scene,omitempty"` // what was located in it, a scene as in locate --json
}

// Recorder writes a recording. Added pictures survive a kill of the program: each picture is on the
// disk before the line that names it.
type Recorder struct {
	dir    string
	lines  *os.File
	header RecordingHeader
	count  int
}

// NewRecorder starts a recording in a directory, which it creates. If the directory has a
// recording, the error is fs.ErrExist.
func NewRecorder(dir string, header RecordingHeader) (*Recorder, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("vision: recording %s: %w", dir, regularfile.WithoutPath(err))
	}
	f, err := os.OpenFile(filepath.Join(dir, RecordingName), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("vision: recording %s: %s: %w", dir, RecordingName, regularfile.WithoutPath(err))
	}
	header.Version = recordingVersion
	return &Recorder{dir: dir, lines: f, header: header}, nil
}

// Add writes a picture as JPEG of quality 95, and the line that names it. scene may be nil.
func (r *Recorder) Add(f vision.Frame, scene json.RawMessage) error {
	if r.count == 0 {
		r.header.Started = f.Captured.UTC()
		if err := r.line(r.header); err != nil {
			return err
		}
	}
	name := fmt.Sprintf("%05d.jpg", r.count+1)
	var picture image.Image = f.Gray
	if f.Color != nil {
		picture = f.Color
	}
	if err := writePicture(filepath.Join(r.dir, name), picture); err != nil {
		return fmt.Errorf("vision: recording %s: %s: %w", r.dir, name, regularfile.WithoutPath(err))
	}
	r.count++
	return r.line(Recorded{File: name, AtMS: f.Captured.Sub(r.header.Started).Milliseconds(), Scene: scene})
}

// Count returns how many pictures were added.
func (r *Recorder) Count() int { return r.count }

// Close ends the recording.
func (r *Recorder) Close() error { return r.lines.Close() }

func (r *Recorder) line(v any) error {
	data, err := json.Marshal(v)
	if err == nil {
		_, err = r.lines.Write(append(data, '\n'))
	}
	if err == nil {
		err = r.lines.Sync()
	}
	if err != nil {
		return fmt.Errorf("vision: recording %s: %s: %w", r.dir, RecordingName, regularfile.WithoutPath(err))
	}
	return nil
}

// writePicture writes a new file, whole or not at all.
func writePicture(path string, picture image.Image) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	err = jpeg.Encode(f, picture, &jpeg.Options{Quality: 95})
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(path) // a part of a picture is none
	}
	return err
}

// ReadRecording reads a directory's recording. It ignores a last line that was cut off by a kill.
// Without a recording the error is fs.ErrNotExist.
func ReadRecording(dir string) (RecordingHeader, []Recorded, error) {
	fail := func(err error) (RecordingHeader, []Recorded, error) {
		return RecordingHeader{}, nil, fmt.Errorf("vision: recording %s: %s: %w", dir, RecordingName, regularfile.WithoutPath(err))
	}
	f, err := os.Open(filepath.Join(dir, RecordingName))
	if err != nil {
		return fail(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, recordingMost+1))
	switch {
	case err != nil:
		return fail(err)
	case len(data) > recordingMost:
		return fail(fmt.Errorf("expected at most %d MB", recordingMost>>20))
	}
	header, all, err := parseRecording(data)
	if err != nil {
		return fail(err)
	}
	return header, all, nil
}

// parseRecording parses the lines of a recording.
func parseRecording(data []byte) (header RecordingHeader, all []Recorded, err error) {
	whole := data[:bytes.LastIndexByte(data, '\n')+1]
	lines := bufio.NewScanner(bytes.NewReader(whole))
	lines.Buffer(nil, recordingMost)
	for n := 1; lines.Scan(); n++ {
		if n == 1 {
			if err := strictjson.Decode(lines.Bytes(), &header); err != nil {
				return header, nil, fmt.Errorf("line 1: %w", err)
			}
			if header.Version != recordingVersion {
				return header, nil, fmt.Errorf("line 1: version: expected %d, got %d", recordingVersion, header.Version)
			}
			continue
		}
		var r Recorded
		if err := strictjson.Decode(lines.Bytes(), &r); err != nil {
			return header, nil, fmt.Errorf("line %d: %w", n, err)
		}
		switch {
		case r.File != filepath.Base(r.File) || !IsImageName(r.File):
			return header, nil, fmt.Errorf("line %d: file: expected a picture's name without a directory, got %q", n, r.File)
		case r.AtMS < 0 || len(all) > 0 && r.AtMS < all[len(all)-1].AtMS:
			return header, nil, fmt.Errorf("line %d: at_ms: expected a time not before the picture before, got %d", n, r.AtMS)
		}
		all = append(all, r)
	}
	if err := lines.Err(); err != nil {
		return header, nil, err
	}
	if len(all) == 0 {
		return header, nil, errors.New("expected a header and pictures")
	}
	return header, all, nil
}

// recorded returns the pictures of a recording and when each is due; none if the directory has no
// recording.
func recorded(dir string) (paths []string, due []time.Duration, err error) {
	_, all, err := ReadRecording(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	for _, r := range all {
		paths = append(paths, filepath.Join(dir, r.File))
		due = append(due, time.Duration(r.AtMS)*time.Millisecond)
	}
	return paths, due, err
}

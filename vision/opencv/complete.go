package opencv

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// errCutOff says that a picture file ends too early. OpenCV reads such a file
// without a word and fills the rest with grey, which would then be measured.
var errCutOff = errors.New("the file is cut off: the picture's end is missing")

// checkComplete reports a picture file that is empty or whose end is missing, as
// far as its format (JPEG, PNG, BMP, WebP) lets that be told without decoding.
func checkComplete(raw []byte) error {
	switch {
	case len(raw) == 0:
		return errors.New("the file is empty, expected a picture")
	case bytes.HasPrefix(raw, []byte("\xff\xd8")):
		return checkJPEG(raw)
	case bytes.HasPrefix(raw, []byte("\x89PNG\r\n\x1a\n")):
		return checkPNG(raw)
	case bytes.HasPrefix(raw, []byte("BM")) && len(raw) >= 14:
		if uint64(binary.LittleEndian.Uint32(raw[2:])) > uint64(len(raw)) {
			return errCutOff
		}
	case bytes.HasPrefix(raw, []byte("RIFF")) && len(raw) >= 12 && string(raw[8:12]) == "WEBP":
		if uint64(binary.LittleEndian.Uint32(raw[4:]))+8 > uint64(len(raw)) {
			return errCutOff
		}
	}
	return nil
}

// checkJPEG walks the segments of a JPEG file to its end-of-image marker. A
// preview inside a segment is skipped with it, so its end does not count.
func checkJPEG(raw []byte) error {
	for i := 2; ; {
		if i+2 > len(raw) {
			return errCutOff
		}
		if raw[i] != 0xff {
			i++ // coded picture data, or stray bytes between segments
			continue
		}
		switch m := raw[i+1]; {
		case m == 0xd9: // end of image
			return nil
		case m == 0xff: // padding
			i++
		case m == 0x00, m == 0x01, m >= 0xd0 && m <= 0xd8: // a coded 0xff; markers without length
			i += 2
		default:
			if i+4 > len(raw) {
				return errCutOff
			}
			i += 2 + int(binary.BigEndian.Uint16(raw[i+2:]))
		}
	}
}

// checkPNG walks the chunks of a PNG file to IEND.
func checkPNG(raw []byte) error {
	for i := uint64(8); ; {
		if i+12 > uint64(len(raw)) {
			return errCutOff
		}
		next := i + 12 + uint64(binary.BigEndian.Uint32(raw[i:]))
		if string(raw[i+4:i+8]) == "IEND" {
			return nil
		}
		i = next
	}
}

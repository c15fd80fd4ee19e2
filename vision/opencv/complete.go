//go:build opencv

package opencv

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"sightline/vision/capture"
)

// errCutOff is the error for a picture file that ends too early. OpenCV reads such a file silently
// and fills the rest with grey, which would then be measured.
var errCutOff = errors.New("the file is cut off: the picture's end is missing")

// maxPixels is the largest accepted number of pixels. A header can claim any size, and OpenCV would
// allocate three bytes for each pixel before it reads the rest of the file.
const maxPixels = 100e6

// checkComplete reports a picture file that is empty, damaged, too large or cut off, as far as its
// format (JPEG, PNG, BMP, WebP) shows that without decoding.
func checkComplete(raw []byte) error {
	switch {
	case len(raw) == 0:
		return errors.New("the file is empty, expected a picture")
	case len(raw) > capture.MaxPictureFile:
		return fmt.Errorf("the file is too large, expected a picture of at most %d MB", capture.MaxPictureFile>>20)
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

// checkJPEG walks the segments of a JPEG file to its end-of-image marker. It skips a preview inside
// a segment, so the preview's end does not count.
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
			// A frame header (SOF): length, precision, height, width.
			if m >= 0xc0 && m <= 0xcf && m != 0xc4 && m != 0xc8 && m != 0xcc && i+9 <= len(raw) {
				if err := checkSize(uint64(binary.BigEndian.Uint16(raw[i+7:])), uint64(binary.BigEndian.Uint16(raw[i+5:]))); err != nil {
					return err
				}
			}
			i += 2 + int(binary.BigEndian.Uint16(raw[i+2:]))
		}
	}
}

// checkPNG walks the chunks of a PNG file to IEND and verifies their checksums.
func checkPNG(raw []byte) error {
	for i := uint64(8); ; {
		if i+12 > uint64(len(raw)) {
			return errCutOff
		}
		length := uint64(binary.BigEndian.Uint32(raw[i:]))
		next := i + 12 + length
		if next > uint64(len(raw)) {
			return errCutOff
		}
		if crc32.ChecksumIEEE(raw[i+4:next-4]) != binary.BigEndian.Uint32(raw[next-4:]) {
			return errors.New("the file is damaged: a checksum in it is wrong")
		}
		switch string(raw[i+4 : i+8]) {
		case "IEND":
			return nil
		case "IHDR":
			if length < 8 {
				return errors.New("the file is damaged: its header is too short")
			}
			if err := checkSize(uint64(binary.BigEndian.Uint32(raw[i+8:])), uint64(binary.BigEndian.Uint32(raw[i+12:]))); err != nil {
				return err
			}
		}
		i = next
	}
}

// checkSize reports a picture with no pixels or too many.
func checkSize(width, height uint64) error {
	if width == 0 || height == 0 {
		return fmt.Errorf("the picture is %d×%d pixels, expected at least one", width, height)
	}
	if width*height > maxPixels { // both are at most 32 bits
		return fmt.Errorf("the picture is %d×%d pixels, expected at most %.0f million", width, height, maxPixels/1e6)
	}
	return nil
}

//go:build opencv

package opencv

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// errShifted is the error for a JPEG with more or fewer coded blocks than its header says. A
// decoder accepts such a file, at most with a warning, and shows everything below the damage
// shifted by whole blocks: a ship would be measured in the wrong place, as exactly as ever.
var errShifted = errors.New("the file is damaged: a part of the picture would be shifted")

// strayMost is how many surplus bytes may follow a scan's data: some cameras pad their pictures
// there.
const strayMost = 32

// checkScans decodes the Huffman codes of a sequential JPEG, without computing its picture, and
// reports a scan with more or fewer blocks than it should have. It accepts other kinds
// (progressive, arithmetic, lossless) unchecked. raw must have passed [checkJPEG].
func checkScans(raw []byte) error {
	s := scanner{raw: raw}
	for i := 2; i+4 <= len(raw); {
		if raw[i] != 0xff || raw[i+1] == 0xff {
			i++
			continue
		}
		m := raw[i+1]
		if m == 0xd9 {
			return nil
		}
		if m == 0x00 || m == 0x01 || m >= 0xd0 && m <= 0xd8 {
			i += 2
			continue
		}
		n := int(binary.BigEndian.Uint16(raw[i+2:]))
		next := i + 2 + n
		if n < 2 || next > len(raw) {
			return errCutOff
		}
		sequential, err := s.segment(m, raw[i+4:next], next)
		if err != nil || !sequential {
			return err
		}
		i = max(next, s.at)
	}
	return nil
}

// component is one of a picture's colours: its number of blocks in a minimum coded unit, in each
// direction.
type component struct {
	id   byte
	h, v int
}

// huffman is a table of codes by length.
type huffman struct {
	symbols []byte
	first   [17]int // the first code of a length
	count   [17]int
	index   [17]int     // of its symbol
	short   [256]uint16 // by the next eight bits: the code's length and symbol; 0 for a longer code
}

// scanner holds the state of a JPEG's segments and reads coded bits.
type scanner struct {
	raw           []byte
	width, height int
	components    []component
	tables        [2][4]*huffman
	restart       int

	at   int    // of the next byte
	bits uint32 // bits read but not used
	n    int    // how many
}

// segment processes a segment. If it starts a scan, the scan's data are at next. It reports false
// for a picture that is not sequential.
func (s *scanner) segment(marker byte, body []byte, next int) (sequential bool, err error) {
	bad := fmt.Errorf("the file is damaged: its segment %#x is malformed", marker)
	switch {
	case marker == 0xc0 || marker == 0xc1:
		if len(body) < 6 || len(body) < 6+3*int(body[5]) {
			return true, bad
		}
		s.height, s.width, s.components = int(binary.BigEndian.Uint16(body[1:])), int(binary.BigEndian.Uint16(body[3:])), nil
		for i := range int(body[5]) {
			c := component{body[6+3*i], int(body[7+3*i] >> 4), int(body[7+3*i] & 15)}
			if c.h < 1 || c.h > 4 || c.v < 1 || c.v > 4 {
				return true, bad
			}
			s.components = append(s.components, c)
		}
	case marker == 0xc4:
		for len(body) > 0 {
			t, rest := newHuffman(body)
			if t == nil {
				return true, bad
			}
			s.tables[body[0]>>4][body[0]&15], body = t, rest
		}
	case marker == 0xdd:
		if len(body) < 2 {
			return true, bad
		}
		s.restart = int(binary.BigEndian.Uint16(body))
	case marker == 0xda:
		s.at, s.bits, s.n = next, 0, 0
		p, err := s.units(body)
		if err != nil {
			return true, err
		}
		return true, s.scan(p)
	case marker > 0xc1 && marker <= 0xcf && marker != 0xc8 && marker != 0xcc:
		return false, nil
	}
	return true, nil
}

// newHuffman parses a table and returns the rest of the segment. It returns nil for a malformed
// table.
func newHuffman(body []byte) (t *huffman, rest []byte) {
	if len(body) < 17 || body[0]>>4 > 1 || body[0]&15 > 3 {
		return nil, nil
	}
	t = &huffman{}
	total, code := 0, 0
	for l := 1; l <= 16; l++ {
		t.first[l], t.count[l], t.index[l] = code, int(body[l]), total
		total += int(body[l])
		code = (code + int(body[l])) << 1
		if code > 2<<l {
			return nil, nil
		}
	}
	if len(body) < 17+total {
		return nil, nil
	}
	t.symbols = body[17 : 17+total]
	for l := 1; l <= 8; l++ {
		for i := range t.count[l] {
			for fill := range 1 << (8 - l) {
				t.short[(t.first[l]+i)<<(8-l)+fill] = uint16(l)<<8 | uint16(t.symbols[t.index[l]+i])
			}
		}
	}
	return t, body[17+total:]
}

// unit describes a component's part of a minimum coded unit: its tables and its number of blocks.
type unit struct {
	dc, ac *huffman
	blocks int
}

// plan is what a scan must contain.
type plan struct {
	units []unit
	count int // of minimum coded units
}

// units parses the header of a scan.
func (s *scanner) units(body []byte) (p plan, err error) {
	if len(body) < 1 || len(body) < 1+2*int(body[0]) {
		return p, errors.New("the file is damaged: the header of its scan is too short")
	}
	maxH, maxV := 1, 1
	for _, c := range s.components {
		maxH, maxV = max(maxH, c.h), max(maxV, c.v)
	}
	for i := range int(body[0]) {
		id, which := body[1+2*i], body[2+2*i]
		for _, c := range s.components {
			if c.id != id || which>>4 > 3 || which&15 > 3 {
				continue
			}
			p.units = append(p.units, unit{s.tables[0][which>>4], s.tables[1][which&15], c.h * c.v})
			p.count = up(s.width, 8*maxH) * up(s.height, 8*maxV)
			if body[0] == 1 { // alone: in its own blocks
				p.units[0].blocks = 1
				p.count = up(up(s.width*c.h, maxH), 8) * up(up(s.height*c.v, maxV), 8)
			}
		}
	}
	for _, u := range p.units {
		if u.dc == nil || u.ac == nil {
			return p, errors.New("the file is damaged: a table of codes is missing")
		}
	}
	if len(p.units) != int(body[0]) {
		return p, errors.New("the file is damaged: its scan is of an unknown colour")
	}
	return p, nil
}

func up(a, b int) int { return (a + b - 1) / b }

// scan reads the coded units of a scan and checks that no further one follows.
func (s *scanner) scan(p plan) error {
	for i := range p.count {
		if s.restart > 0 && i > 0 && i%s.restart == 0 && !s.restarted(byte(i/s.restart-1)&7, p) {
			return errShifted
		}
		if !s.unit(p) {
			return errShifted
		}
	}
	if s.surplus(p) {
		return errShifted
	}
	return nil
}

// restarted reads a restart marker.
func (s *scanner) restarted(number byte, p plan) bool {
	if s.surplus(p) {
		return false
	}
	for s.at+1 < len(s.raw) && s.raw[s.at+1] == 0xff { // padding
		s.at++
	}
	if s.at+1 >= len(s.raw) || s.raw[s.at+1] != 0xd0+number {
		return false
	}
	s.at += 2
	return true
}

// surplus reads to the next marker and reports whether there are more than stray bytes before it.
func (s *scanner) surplus(p plan) bool {
	end := s.at
	for end+1 < len(s.raw) && (s.raw[end] != 0xff || s.raw[end+1] == 0) {
		end++
	}
	rest := s.n/8 + end - s.at
	more := rest > strayMost || rest > 0 && s.unit(p)
	s.at, s.bits, s.n = end, 0, 0
	return more
}

// unit reads a minimum coded unit. It reports false if there is none.
func (s *scanner) unit(p plan) bool {
	for _, u := range p.units {
		for range u.blocks {
			if !s.block(u) {
				return false
			}
		}
	}
	return true
}

// block reads 64 coefficients.
func (s *scanner) block(u unit) bool {
	size, ok := s.symbol(u.dc)
	if !ok || size > 15 || !s.skip(int(size)) {
		return false
	}
	for k := 1; k < 64; k++ {
		v, ok := s.symbol(u.ac)
		if !ok {
			return false
		}
		run, size := int(v>>4), int(v&15)
		if size == 0 && run != 15 { // the rest is zero
			return true
		}
		if k += run; k > 63 || !s.skip(size) {
			return false
		}
	}
	return true
}

// fill reads bytes up to the next marker until there are n bits. It reports false if there are not.
func (s *scanner) fill(n int) bool {
	for s.n < n {
		if s.at >= len(s.raw) || s.raw[s.at] == 0xff && (s.at+1 >= len(s.raw) || s.raw[s.at+1] != 0) {
			return false
		}
		s.bits = s.bits<<8 | uint32(s.raw[s.at])
		s.n += 8
		if s.raw[s.at] == 0xff {
			s.at++
		}
		s.at++
	}
	return true
}

func (s *scanner) skip(n int) bool {
	if !s.fill(n) {
		return false
	}
	s.n -= n
	return true
}

// symbol reads a code.
func (s *scanner) symbol(t *huffman) (byte, bool) {
	if s.fill(8) {
		if e := t.short[byte(s.bits>>(s.n-8))]; e != 0 {
			s.n -= int(e >> 8)
			return byte(e), true
		}
	}
	for l := 1; l <= 16 && s.fill(l); l++ {
		if i := int(s.bits>>(s.n-l))&(1<<l-1) - t.first[l]; i >= 0 && i < t.count[l] {
			s.n -= l
			return t.symbols[t.index[l]+i], true
		}
	}
	return 0, false
}

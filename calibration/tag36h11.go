package calibration

import "fmt"

// tag36h11 holds the first codes of the AprilTag family 36h11 (Olson 2011; Wang
// and Olson 2016), as the reference library draws them: 36 bits, row by row from
// the top left of the 6×6 data cells, 1 for white. Around them stand a ring of
// black cells (the 8×8 black square whose side is the tag's size) and a white border.
var tag36h11 = [32]uint64{
	0xd5d628584, 0xd97f18b49, 0xdd280910e, 0xe479e9c98, 0xebcbca822, 0xf31dab3ac,
	0x056a5d085, 0x10652e1d4, 0x22b1dfead, 0x265ad0472, 0x34fe91b86, 0x3ff962cd5,
	0x43a25329a, 0x474b4385f, 0x4e9d243e9, 0x5246149ae, 0x5997f5538, 0x683bb6c4c,
	0x6be4a7211, 0x7e3158eea, 0x81da494af, 0x858339a74, 0x8cd51a5fe, 0x9f21cc2d7,
	0xa2cabc89c, 0xadc58d9eb, 0xb16e7dfb0, 0xb8c05eb3a, 0xd25ef139d, 0xd607e1962,
	0xe4aba3076, 0x2dde6a3da,
}

// TagCells is the number of cells along the side of a tag's black square.
const TagCells = 8

// TagWhite reports whether a cell of a 36h11 tag is white: column and row count
// from the top left of the black square, 0…7. It fails for an id that this table
// does not hold.
func TagWhite(id, column, row int) (bool, error) {
	if id < 0 || id >= len(tag36h11) {
		return false, fmt.Errorf("tag 36h11: id %d: expected 0…%d", id, len(tag36h11)-1)
	}
	if column < 1 || column > 6 || row < 1 || row > 6 {
		return false, nil
	}
	return tag36h11[id]>>(35-6*(row-1)-(column-1))&1 == 1, nil
}

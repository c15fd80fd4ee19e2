//go:build opencv

package opencv

import (
	"errors"
	"fmt"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/fiducial"
)

// BoardFinder finds a board for lens calibration in pictures. It belongs to one
// goroutine.
type BoardFinder struct {
	board   calibration.Board
	markers *MarkerDetector // for ChArUco
}

// NewBoardFinder returns a finder of one kind of board, which its owner must Close.
func NewBoardFinder(board calibration.Board) (*BoardFinder, error) {
	if err := board.Validate(); err != nil {
		return nil, fmt.Errorf("opencv: new board finder: %w", err)
	}
	f := &BoardFinder{board: board}
	if board.Kind == calibration.ChArUco {
		var err error
		if f.markers, err = NewMarkerDetector(MarkerOptions{}); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// Close frees the finder's memory. Closing twice is harmless.
func (b *BoardFinder) Close() error {
	if b.markers == nil {
		return nil
	}
	return b.markers.Close()
}

// FindQuick searches for the board in a live picture. It takes a fraction of a second even if there
// is none (see QuickChessboard).
func (b *BoardFinder) FindQuick(f vision.Frame) (calibration.BoardSighting, error) {
	return b.find(f, QuickChessboard)
}

// Find searches thoroughly for the board. If there is none, the sighting has no pixels and states
// the reason.
func (b *BoardFinder) Find(f vision.Frame) (calibration.BoardSighting, error) {
	return b.find(f, FindChessboard)
}

func (b *BoardFinder) find(f vision.Frame, chessboard func(vision.Frame, int, int) ([]geom.Pixel, bool, error)) (calibration.BoardSighting,
	error) {
	s := calibration.BoardSighting{Name: f.Name, At: f.Captured}
	if w, h := f.Size(); w == 0 || h == 0 {
		return s, errors.New("opencv: find board: no picture")
	}
	if b.board.Kind == calibration.ChArUco {
		found, err := b.markers.DetectMarkers(f.Gray)
		if err != nil {
			return s, err
		}
		s.Pixels, s.Indices, s.Reason = fiducial.CharucoCorners(f.Gray, b.board, found)
		if len(found) == 0 && len(s.Pixels) == 0 {
			// Markers cannot be read in a mirror image.
			turned, err := b.markers.DetectMarkers(fiducial.Mirror(f.Gray))
			if err != nil {
				return s, err
			}
			if len(turned) >= 4 {
				s.Reason = "the picture is a mirror image: turn mirroring off in the camera's settings"
			}
		}
	} else {
		px, found, err := chessboard(f, b.board.Cols, b.board.Rows)
		if err != nil {
			return s, err
		}
		if s.Pixels = px; !found {
			s.Reason = fmt.Sprintf("no chessboard with %d×%d inner corners was found in it, whole", b.board.Cols, b.board.Rows)
		} else if fiducial.ChessboardContinues(f.Gray, px, b.board.Cols, b.board.Rows) {
			s.Pixels, s.Larger = nil, true
			s.Reason = fmt.Sprintf("its chessboard continues beyond %d×%d inner corners: it is a larger board", b.board.Cols, b.board.Rows)
		}
	}
	if len(s.Pixels) > 0 {
		s.EdgeWidth, s.Contrast = fiducial.BoardEdges(f.Gray, b.board, calibration.BoardView{Pixels: s.Pixels, Indices: s.Indices})
	}
	return s, nil
}

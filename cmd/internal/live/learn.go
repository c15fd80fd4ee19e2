package live

import (
	"errors"
	"image"
	"time"

	"sightline/engine/geom"
	"sightline/vision/catalogue"
	"sightline/vision/obstacle/trace"
)

// LearnAction is what somebody wants who teaches the program this table's obstacles.
type LearnAction string

// The actions. The first two take long: they begin, and LearnState tells how they end.
const (
	LearnMat    LearnAction = "mat"    // learn the mat with nothing on it
	LearnTrace  LearnAction = "trace"  // trace the tokens that lie on white paper
	LearnForget LearnAction = "forget" // what was traced
	LearnSave   LearnAction = "save"   // traced tokens into the catalogue
	LearnChange LearnAction = "change" // an entry's name or kind
	LearnDelete LearnAction = "delete" // an entry
	LearnImport LearnAction = "import" // a catalogue's file
)

// LearnIntent is what somebody wants, with what belongs to it.
type LearnIntent struct {
	Do      LearnAction
	Version string      // of the file that it changes, as they saw it
	Top     geom.Length // LearnTrace: of the tokens' upper face over the mat
	Trace   uint64      // LearnSave: its number
	Tokens  []LearnName // LearnSave

	Name, To, Kind string // LearnChange, LearnDelete: the entry, and what it is to be

	Catalogue *catalogue.Catalogue // LearnImport
	Replace   bool                 // LearnImport: entries of the same name
	Whole     bool                 // LearnImport: take it in place of all there is
}

// LearnName names a traced token.
type LearnName struct {
	Number     int // from 1, in the trace's order
	Name, Kind string
	Replace    bool // the entry of that name
}

// What Learn's errors wrap.
var (
	ErrLearnConflict = errors.New("not now")
	ErrLearnFile     = errors.New("the file cannot be saved")
)

// LearnState is what has been learnt, and what is under way. What it refers to does not change.
type LearnState struct {
	Way    []string // what is in the way of learning, in sentences
	MatWay []string // what else is in the way of learning the mat
	Paper  bool     // a sheet of white paper lies on the mat

	Doing          LearnAction // LearnMat or LearnTrace; "": nothing
	Frames, Wanted int         // pictures that were looked at, and how many it takes
	Last           LearnAction // that ended last
	Ended          time.Time   // when
	Done, Problem  string      // how it ended, in a sentence: one of the two

	Trace *TokenTrace // nil: there is none

	Mat                 LearntFile
	MatWidth, MatHeight geom.Length // 0: none was learnt
	Catalogue           LearntFile
	Entries             []catalogue.Entry
	Twins               map[string][]string // entries that cannot be told from others, and which those are
	Unusable            string              // why nothing is found with the two on this table; "": they are used, or are not both there
}

// Unused says why what was taught is not used on the table now, in a few words; "": it
// is.
func (l *LearnState) Unused(s *State) string {
	sight := s.Located.Obstacles
	switch {
	case s.Health.Code != OK:
		return s.Health.Title
	case l.Unusable != "":
		return l.Unusable
	case l.Mat.Version == "":
		return "the empty mat has not been learnt"
	case l.Mat.Problem != "" && l.MatWidth == 0:
		return "the learnt mat cannot be read"
	case l.Catalogue.Problem != "" && len(l.Entries) == 0:
		return "the catalogue cannot be read"
	case len(l.Entries) == 0:
		return "no token is in the catalogue"
	case sight == nil:
		return "the program has not looked for them yet"
	}
	return sight.Unseen
}

// LearntFile is a file in which something learnt is kept.
type LearntFile struct {
	File    string
	Version string    // of its content; "": there is none
	At      time.Time // when it was written
	Problem string    // why it cannot be read; "": it can
}

// TokenTrace is what lay on white paper.
type TokenTrace struct {
	Number  uint64 // counts from 1
	At      time.Time
	Top     geom.Length
	Clipped bool            // the paper is whiter than the camera measures
	Region  image.Rectangle // of the picture, that is worth showing
	Tokens  []LearnToken
}

// Good returns how many tokens were traced.
func (t *TokenTrace) Good() (n int) {
	for _, k := range t.Tokens {
		if k.Problem == "" {
			n++
		}
	}
	return n
}

// LearnToken is one thing on the paper.
type LearnToken struct {
	trace.Token
	Doubts []string // what would make the search refuse it later, in sentences
	Alike  []string // entries of the catalogue that look the same: itself, learnt before, or another
	Saved  string   // the entry as which it was saved; "": it was not
}

package live

import (
	"errors"
	"image"
	"time"

	"sightline/engine/geom"
	"sightline/vision/catalogue"
	"sightline/vision/obstacle/trace"
)

// LearnAction is a step in teaching the program this table's obstacles.
type LearnAction string

// The actions. The first two run in the background; LearnState says how they end.
const (
	LearnMat    LearnAction = "mat"    // learn the mat with nothing on it
	LearnTrace  LearnAction = "trace"  // trace the tokens that lie on white paper
	LearnForget LearnAction = "forget" // discard the trace
	LearnSave   LearnAction = "save"   // save traced tokens to the catalogue
	LearnChange LearnAction = "change" // change an entry's name or kind
	LearnDelete LearnAction = "delete" // delete an entry
	LearnImport LearnAction = "import" // import a catalogue file
)

// LearnIntent is a requested action with its arguments.
type LearnIntent struct {
	Do      LearnAction
	Version string      // of the file to change, as the requester saw it
	Bare    bool        // LearnMat: the requester has looked, and nothing lies on the mat, whatever the program recognises
	Top     geom.Length // LearnTrace: height of the tokens' upper face over the mat
	Trace   uint64      // LearnSave: the trace's number
	Tokens  []LearnName // LearnSave

	Name, To, Kind string // LearnChange, LearnDelete: the entry, and its new name and kind

	Catalogue *catalogue.Catalogue // LearnImport
	Replace   bool                 // LearnImport: replace entries of the same name
	Whole     bool                 // LearnImport: replace the whole catalogue
}

// LearnName names a traced token.
type LearnName struct {
	Number     int // from 1, in the trace's order
	Name, Kind string
	Replace    bool // an entry of the same name
}

// Errors that a Learn function wraps.
var (
	ErrLearnConflict = errors.New("not now")
	ErrLearnFile     = errors.New("the file cannot be saved")
)

// LearnState is what has been learnt, and the action under way. It must not be changed once
// published.
type LearnState struct {
	Blockers    []string // what is in the way of learning, in sentences
	MatBlockers []string // what else is in the way of learning the mat
	Lying       []string // what lies on the mat by what is known of it so far, in sentences
	Paper       bool     // a sheet of white paper lies on the mat

	Doing          LearnAction // LearnMat or LearnTrace; "": none
	Frames, Wanted int         // pictures taken so far, and needed
	Last           LearnAction // the last one to end
	Ended          time.Time   // when
	Done, Problem  string      // how it ended, in a sentence: one of the two

	Trace *TokenTrace // nil: none

	Mat                 LearntFile
	MatWidth, MatHeight geom.Length // 0: not learnt
	Catalogue           LearntFile
	Entries             []catalogue.Entry
	Twins               map[string][]string // entries by name that look the same, and which others they look like
	Unusable            string              // why the two cannot be used on this table; "": they are used, or one is missing
}

// UnusedReason says in a few words why what was learnt is not used now; "" when it is.
func (l *LearnState) UnusedReason(s *State) string {
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

// LearntFile is a file that stores something learnt.
type LearntFile struct {
	File    string
	Version string    // of its content; "": no such file
	At      time.Time // when it was written
	Problem string    // why it cannot be read; "": it can
}

// TokenTrace holds the outlines of tokens traced on white paper.
type TokenTrace struct {
	Number  uint64 // counts from 1
	At      time.Time
	Top     geom.Length
	Clipped bool            // the paper is overexposed
	Region  image.Rectangle // the part of the picture to show
	Tokens  []LearnToken
}

// Good returns the number of tokens traced without a problem.
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
	Doubts []string // what may make the search refuse it later, in sentences
	Alike  []string // entries of the catalogue that look the same: this token learnt before, or another
	Saved  string   // the entry it was saved as; "": not saved
}

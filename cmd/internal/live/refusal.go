package live

import "errors"

// Refusal is the error of a request that the table turns down: a sentence for people, and its
// kind, for errors.Is.
type Refusal struct {
	Kind error // one of those below
	Text string
}

// Error implements error.
func (r *Refusal) Error() string { return r.Text }

// Unwrap returns the kind.
func (r *Refusal) Unwrap() error { return r.Kind }

// The kinds of refusals.
var (
	ErrInvalid   = errors.New("invalid request")
	ErrForbidden = errors.New("the agreement on measuring forbids this")
	ErrNoAnswers = errors.New("the table gives no answers now")
	ErrOvertaken = errors.New("this no longer fits the table")
	ErrInUse     = errors.New("another program uses the record")
	ErrUnwritten = errors.New("this could not be written")
	ErrDamaged   = errors.New("the record is damaged")
)

// ErrNoRuling is wrapped by every error about a missing entry.
var ErrNoRuling = errors.New("there is no such ruling")

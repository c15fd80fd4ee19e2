package pipeline

import (
	"log/slog"
	"os"
	"time"

	"sightline/calibration"
	"sightline/calibration/verify"
)

// CalibrationFile is a table calibration and the file that it was read from.
type CalibrationFile struct {
	Table *calibration.Table // nil: there is none, the camera is registered from the markers
	Name  string             // for people
	Path  string             // "": it was not verified
}

// verifiedFile is a calibration file with its last verification, which is a file in the same folder.
type verifiedFile struct {
	CalibrationFile
	log *slog.Logger

	record    verify.Record
	verified  bool        // there is a record
	read      recordStamp // of the record that was read
	checkedAt time.Time   // when the record's file was looked at
}

// verificationEvery is how often the record's file is looked at.
const verificationEvery = time.Second

// recordStamp is what changes when a record is written.
type recordStamp struct {
	at   time.Time
	size int64
}

// stamp tells one state of the record's file from another; zero when there is none.
func (v *verifiedFile) stamp() recordStamp {
	if v.Table == nil || v.Path == "" {
		return recordStamp{}
	}
	info, err := os.Stat(verify.RecordPath(v.Path))
	if err != nil {
		return recordStamp{}
	}
	return recordStamp{info.ModTime(), info.Size()}
}

// load reads the record. A broken one is no verification.
func (v *verifiedFile) load(now time.Time) {
	v.read, v.checkedAt = v.stamp(), now // before it is read: what is written meanwhile is read later
	v.verified = false
	if v.Table == nil || v.Path == "" {
		return
	}
	var err error
	if v.record, v.verified, err = verify.LoadRecord(v.Path); err != nil {
		v.log.Warn("the verification is left out", "err", err)
	}
}

// renew reads the record again when its file has changed, and reports whether it had.
func (v *verifiedFile) renew(now time.Time) bool {
	if now.Sub(v.checkedAt) < verificationEvery {
		return false
	}
	v.checkedAt = now
	if v.stamp() == v.read {
		return false
	}
	v.load(now)
	return true
}

// answer returns what the last verification of the file says of the table in use; nil:
// nothing.
func (v *verifiedFile) answer(inUse *calibration.Table) *verify.AnswerJSON {
	if !v.verified {
		return nil
	}
	return v.record.Answer(v.Table, inUse)
}

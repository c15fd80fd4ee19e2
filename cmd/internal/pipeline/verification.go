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
	Table *calibration.Table // nil: no file; the camera is registered from the markers
	Name  string             // for people
	Path  string             // "": not verified
}

// verifiedFile is a calibration file with its last verification, a record file in the same folder.
type verifiedFile struct {
	CalibrationFile
	log *slog.Logger

	record    verify.Record
	verified  bool        // record is valid
	read      recordStamp // of the record file when it was read
	checkedAt time.Time   // when the record file was last checked
}

// verificationEvery is how often the record file is checked.
const verificationEvery = time.Second

// recordStamp changes when a record is written.
type recordStamp struct {
	at   time.Time
	size int64
}

// stamp returns the record file's stamp; zero if there is no file.
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

// load reads the record. A broken one counts as none.
func (v *verifiedFile) load(now time.Time) {
	v.read, v.checkedAt = v.stamp(), now // before reading: what is written meanwhile is read next time
	v.verified = false
	if v.Table == nil || v.Path == "" {
		return
	}
	var err error
	if v.record, v.verified, err = verify.LoadRecord(v.Path); err != nil {
		v.log.Warn("the verification record is ignored", "err", err)
	}
}

// renew reads the record again if its file has changed, and reports whether it had.
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

// answer returns the last verification's result for the table in use; nil: none.
func (v *verifiedFile) answer(inUse *calibration.Table) *verify.AnswerJSON {
	if !v.verified {
		return nil
	}
	return v.record.Answer(v.Table, inUse)
}

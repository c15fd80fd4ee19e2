// Package rulings records the judges' rulings and the games: an append-only log in which
// each entry holds the scene, the measured pictures, the calibration, the verdict and the
// decision, and the hash of the entry before it.
//
// A log is a folder:
//
//	rulings.db             SQLite, WAL: the entries, and which pictures were pruned
//	rulings.lock           held by the one program that writes
//	files/3f/3f9a….png     the entries' files, named by the SHA-256 of their bytes
//
// The record of an entry is one line of JSON in UTF-8, in canonical form: the keys in the
// order of [Record], no space between tokens, no needless escapes. Its hash is the SHA-256
// of exactly these bytes, in lower-case hex. The next record has it as "previous"; the
// first has [Genesis]. So sha256sum and any JSON reader can check the chain, as
// docs/rulings.md describes. SQLite computes the columns that repeat parts of a record.
//
// A chain cannot show that entries are missing at its end: anyone who may write to the
// folder can cut it off or rewrite all of it. A head (number and hash) that was written down
// elsewhere shows that; see [Head] and [Log.Verify].
//
// Lengths are in millimetres, in the frame of package geom. Times come with a ruling. Only
// the age of pictures is measured here, by the clock and the machine's uptime.
package rulings

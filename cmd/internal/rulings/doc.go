// Package rulings keeps what a judge ruled, and the games played: an append-only log in which each entry
// holds the scene, the pictures that were looked at, the calibration, the verdict and
// the decision, and the hash of the entry before it.
//
// A log is a folder:
//
//	rulings.db             SQLite, WAL: the entries, and which pictures were pruned
//	rulings.lock           held by the one program that writes
//	files/3f/3f9a….png     what the entries rest on, named by the SHA-256 of its bytes
//
// An entry is one line of JSON in UTF-8, its record, in canonical form: the keys in
// the order of [Record], no space between tokens, no escape that JSON does not ask
// for. Its hash is the SHA-256 of exactly these bytes, in lower-case hex, and stands
// in the next record as "previous" ([Genesis] in the first). So sha256sum and any
// JSON reader can check the chain: docs/rulings.md says how. The columns of the
// database that repeat parts of a record are computed from it by SQLite.
//
// What a chain cannot show is that entries are missing at its end: anyone who may write to the
// folder may cut it off, or rewrite all of it. A head (number and hash) that
// was written down elsewhere shows that; see [Head] and [Log.Verify].
//
// Lengths are millimetres, and the frame is that of package geom. Times come in with a
// ruling. Only the age of pictures is measured here, by the clock and by the machine's uptime.
package rulings

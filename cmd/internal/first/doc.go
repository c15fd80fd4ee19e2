// Package first leads from nothing to the first trusted answer: it knows which steps a
// table has behind it and which comes next, lists the machine's cameras with what they
// show, and draws the sheets to print. What people decided on the way is kept in a file,
// so that the way can be left and taken up again.
//
// The steps themselves are done where they belong: lens, table and verification by package
// setup, mat and obstacles by the learner of package app. This package only looks at what
// came of them.
package first

// Package first leads from nothing to the first trusted answer. It knows which steps a table has
// completed and which comes next, lists the machine's cameras with a picture of each, and draws the
// sheets to print. It stores the user's choices in a file, so that people can leave and come back.
//
// Other packages carry out the steps: setup calibrates the lens and the table and verifies both;
// the learner of package app learns the mat and the obstacles. This package only looks at the
// results.
package first

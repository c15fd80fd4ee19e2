package lens

// Parse reads a lens without the file system, for the fuzz tests.
var Parse = parse

package calibration

// The parsers without the file system, for the fuzz tests.
var (
	ParseLens   = parseLens
	ParseTable  = parseTable
	FormatTable = formatTable
)

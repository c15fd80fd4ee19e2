package calibration

import (
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// Rounds is how many random tables a test draws: SIGHTLINE_ACCURACY=full draws all of
// them, a number that many, and nothing a few.
func Rounds(t testing.TB, quick, full int) int {
	t.Helper()
	switch v := os.Getenv("SIGHTLINE_ACCURACY"); v {
	case "":
		return quick
	case "full":
		return full
	default:
		n, err := strconv.Atoi(v)
		require.NoError(t, err, "SIGHTLINE_ACCURACY")
		return n
	}
}

package calibration

import (
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// Rounds returns the number of random tables that a test draws: full with
// SIGHTLINE_ACCURACY=full, the number that it gives, or quick, of which -short takes half.
func Rounds(t testing.TB, quick, full int) int {
	t.Helper()
	switch v := os.Getenv("SIGHTLINE_ACCURACY"); v {
	case "":
		if testing.Short() {
			return (quick + 1) / 2
		}
		return quick
	case "full":
		return full
	default:
		n, err := strconv.Atoi(v)
		require.NoError(t, err, "SIGHTLINE_ACCURACY")
		return n
	}
}

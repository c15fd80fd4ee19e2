package calibration

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestASmallChangeOfTheFocalLengthIsNotSaidToBeNone(t *testing.T) {
	for focal, says := range map[float64]string{
		-0.0016: "about 0.16 % shorter", 0.0061: "about 0.61 % longer", 0.09: "about 9 % longer", -0.3: "much shorter",
	} {
		assert.Equal(t, says, (&lensConsistency{focal: focal}).focalChange())
	}
}

package access

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestAnyNumberOfPeersTakesBoundedMemory(t *testing.T) {
	b := newBuckets[netip.Addr](allowance{10, 5})
	now := time.Unix(1_800_000_000, 0)
	address := func(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}) }
	granted := 0
	for i := range 50_000 {
		if _, _, ok := b.take(address(i), 1, now); ok {
			granted++
		}
	}
	assert.Equal(t, 4096, len(b.of))
	assert.Equal(t, 4096+5, granted, "those beyond share one bucket")
	_, _, ok := b.take(address(49_999), 1, now.Add(time.Minute))
	assert.True(t, ok, "and have their own again when the others rest")
	assert.LessOrEqual(t, len(b.of), 2)
}

//go:build matprofile && opencv

package opencv

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestASourceLeavesNoMatOpen(t *testing.T) {
	path := video(t, 4)
	srv := mjpegServer(t, 12, func(r *http.Request) { <-r.Context().Done() })
	before := openMats()
	for range 3 {
		s, err := Open(t.Context(), path, OpenOptions{Unpaced: true})
		require.NoError(t, err)
		numbers(t, s)
		require.NoError(t, s.Close())
		_, err = Open(t.Context(), "/dev/null", OpenOptions{})
		require.Error(t, err)

		s, err = Open(t.Context(), srv.URL+"/stream.mjpg", OpenOptions{OpenTimeout: patient.OpenTimeout, ReadTimeout: 300 * time.Millisecond})
		require.NoError(t, err)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for err := error(nil); err == nil; {
				_, err = s.Next(context.Background())
			}
		}()
		time.Sleep(100 * time.Millisecond)
		require.NoError(t, s.Close()) // while Next is inside OpenCV
		<-done
	}
	require.Equal(t, before, openMats())
}

package capture_test

import (
	"context"
	"errors"
	"image"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/vision"
	"sightline/vision/capture"
)

// script is a source that does what its steps say, then repeats the last one.
type script struct {
	steps  []func(ctx context.Context) (vision.Frame, error)
	next   int
	closed atomic.Int32
}

func (s *script) Next(ctx context.Context) (vision.Frame, error) {
	step := s.steps[min(s.next, len(s.steps)-1)]
	s.next++
	return step(ctx)
}
func (s *script) Close() error   { s.closed.Add(1); return nil }
func (s *script) String() string { return "script" }

type step = func(ctx context.Context) (vision.Frame, error)

func tiny() vision.Frame { return vision.Frame{Gray: image.NewGray(image.Rect(0, 0, 1, 1))} }

// frameAfter gives a frame after a pause.
func frameAfter(d time.Duration) step {
	return func(ctx context.Context) (vision.Frame, error) {
		select {
		case <-time.After(d):
			return tiny(), nil
		case <-ctx.Done():
			return vision.Frame{}, ctx.Err()
		}
	}
}

func fails(err error) step {
	return func(context.Context) (vision.Frame, error) { return vision.Frame{}, err }
}

// hangs blocks until the context is cancelled, as a good source may.
func hangs(ctx context.Context) (vision.Frame, error) {
	<-ctx.Done()
	return vision.Frame{}, ctx.Err()
}

// running starts a feed inside a synctest bubble and returns what stops it.
func running(t *testing.T, f *capture.Feed) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	return func() error { cancel(); return <-done }
}

func always(s vision.Source) func(context.Context) (vision.Source, error) {
	return func(context.Context) (vision.Source, error) { return s, nil }
}

func TestASlowReaderGetsTheNewestFrameAndTheRestAreCountedAsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &script{steps: []step{frameAfter(40 * time.Millisecond)}}
		f := capture.NewFeed(always(src), capture.FeedOptions{Name: "cam"})
		assert.Equal(t, capture.FeedStatus{State: capture.FeedClosed, Source: "cam"}, f.Status())
		stop := running(t, f)

		first, err := f.Next(t.Context(), 0)
		require.NoError(t, err)
		assert.EqualValues(t, 1, first.Seq)
		time.Sleep(1*time.Second + time.Millisecond) // 25 more frames: 2…26
		synctest.Wait()
		newest, err := f.Next(t.Context(), first.Seq)
		require.NoError(t, err)
		assert.EqualValues(t, 26, newest.Seq)

		s := f.Status()
		assert.Equal(t, capture.FeedLive, s.State)
		assert.Equal(t, "script", s.Source)
		assert.EqualValues(t, 26, s.Frames)
		assert.EqualValues(t, 24, s.Dropped, "frames 2…25")
		assert.InDelta(t, 25, s.FPS, 1e-6)
		assert.Empty(t, s.Err)

		require.NoError(t, stop())
		assert.EqualValues(t, 1, src.closed.Load())
		assert.Equal(t, capture.FeedClosed, f.Status().State)
		assert.Zero(t, f.Status().FPS)
		_, err = f.Next(t.Context(), newest.Seq)
		assert.ErrorIs(t, err, capture.ErrFeedClosed)
		last, ok := f.Latest()
		assert.True(t, ok)
		assert.EqualValues(t, 26, last.Seq, "the last frame stays")
	})
}

func TestAReaderThatKeepsUpDropsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := capture.NewFeed(always(&script{steps: []step{frameAfter(time.Millisecond)}}), capture.FeedOptions{})
		defer running(t, f)()
		var seq uint64
		for want := uint64(1); want <= 100; want++ {
			frame, err := f.Next(t.Context(), seq)
			require.NoError(t, err)
			require.Equal(t, want, frame.Seq)
			seq = frame.Seq
		}
		assert.Zero(t, f.Status().Dropped)
	})
}

func TestASourceThatFailsIsOpenedAgainWithLongerAndLongerPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var opened []time.Duration
		var told []string
		f := capture.NewFeed(func(context.Context) (vision.Source, error) {
			opened = append(opened, time.Since(start))
			return nil, errors.New("no such camera")
		}, capture.FeedOptions{OnChange: func(s capture.FeedStatus) { told = append(told, string(s.State)+" "+s.Err) }})
		stop := running(t, f)
		time.Sleep(40 * time.Second)
		synctest.Wait()
		require.NoError(t, stop())
		want := []time.Duration{0, 500, 1500, 3500, 7500, 15500, 25500, 35500} // pauses 0.5 1 2 4 8 10 10 s
		for i := range want {
			want[i] *= time.Millisecond
		}
		assert.Equal(t, want, opened)
		assert.Equal(t, []string{"opening ", "opening no such camera", "closed "}, told, "the same trouble is told once")
		assert.EqualValues(t, len(want)-1, f.Status().Reopened)
	})
}

func TestSequenceNumbersRiseAcrossAnOpeningAndTheTroubleIsShownMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sources []*script
		f := capture.NewFeed(func(context.Context) (vision.Source, error) {
			s := &script{steps: []step{frameAfter(0), frameAfter(10 * time.Millisecond), fails(errors.New("unplugged"))}}
			sources = append(sources, s)
			return s, nil
		}, capture.FeedOptions{})
		stop := running(t, f)
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		s := f.Status()
		assert.Equal(t, capture.FeedOpening, s.State)
		assert.Equal(t, "unplugged", s.Err)
		assert.EqualValues(t, 1, sources[0].closed.Load())
		frame, err := f.Next(t.Context(), 2)
		require.NoError(t, err)
		assert.EqualValues(t, 3, frame.Seq)
		assert.Equal(t, capture.FeedLive, f.Status().State)
		assert.Empty(t, f.Status().Err)
		assert.EqualValues(t, 1, f.Status().Reopened)
		require.NoError(t, stop())
	})
}

func TestAfterALongGoodRunThePauseIsShortAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var opened []time.Duration
		f := capture.NewFeed(func(context.Context) (vision.Source, error) {
			opened = append(opened, time.Since(start))
			switch len(opened) {
			case 4:
				n := 0
				return &script{steps: []step{func(ctx context.Context) (vision.Frame, error) {
					if n++; n > 11 {
						return vision.Frame{}, errors.New("unplugged")
					}
					return frameAfter(time.Second)(ctx)
				}}}, nil
			}
			return nil, errors.New("no such camera")
		}, capture.FeedOptions{})
		stop := running(t, f)
		time.Sleep(20 * time.Second)
		synctest.Wait()
		require.NoError(t, stop())
		// It opens at 3.5 s, gives 11 frames until 14.5 s, and fails.
		require.GreaterOrEqual(t, len(opened), 5)
		assert.Equal(t, 15*time.Second, opened[4])
	})
}

func TestASourceThatGivesNoFrameIsStalledThenClosedAndOpenedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sources []*script
		var told []capture.FeedStatus
		f := capture.NewFeed(func(context.Context) (vision.Source, error) {
			s := &script{steps: []step{frameAfter(0), hangs}}
			sources = append(sources, s)
			return s, nil
		}, capture.FeedOptions{OnChange: func(s capture.FeedStatus) { told = append(told, s) }})
		stop := running(t, f)
		time.Sleep(3600 * time.Millisecond) // 3 s to the stall, 0.5 s pause
		synctest.Wait()
		require.Len(t, sources, 2)
		assert.EqualValues(t, 1, sources[0].closed.Load())
		var states []capture.FeedState
		for _, s := range told {
			states = append(states, s.State)
		}
		assert.Equal(t, []capture.FeedState{capture.FeedOpening, capture.FeedLive, capture.FeedStalled, capture.FeedOpening, capture.FeedLive},
			states)
		assert.Equal(t, "no frame for 3s", told[2].Err)
		require.NoError(t, stop())
	})
}

// deaf is a source whose Next comes back neither for the context nor for Close.
type deaf struct {
	release chan struct{}
	closed  atomic.Int32
}

func (d *deaf) Next(context.Context) (vision.Frame, error) {
	<-d.release
	return tiny(), nil
}
func (d *deaf) Close() error   { d.closed.Add(1); return nil }
func (d *deaf) String() string { return "deaf" }

func TestADriverThatNeverComesBackCostsTwoGoroutinesAndNotMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sources []*deaf
		f := capture.NewFeed(func(context.Context) (vision.Source, error) {
			d := &deaf{release: make(chan struct{})}
			sources = append(sources, d)
			return d, nil
		}, capture.FeedOptions{})
		stop := running(t, f)
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		require.Len(t, sources, 2)
		assert.Equal(t, capture.FeedStalled, f.Status().State)
		assert.Contains(t, f.Status().Err, "does not respond")
		for _, d := range sources {
			assert.EqualValues(t, 1, d.closed.Load())
		}

		close(sources[0].release) // the first one lets go at last, with a frame that is too late
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Len(t, sources, 3, "there is room again")
		_, ok := f.Latest()
		assert.False(t, ok, "a frame of a source that was given up is not shown")

		began := time.Now()
		require.NoError(t, stop())
		assert.LessOrEqual(t, time.Since(began), 2*time.Second, "stopping does not wait for the driver")
		close(sources[1].release)
		close(sources[2].release)
	})
}

func TestOpeningThatTakesTooLongIsGivenUpAndItsSourceClosedWhenItComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := &script{steps: []step{frameAfter(0)}}
		var calls atomic.Int32
		f := capture.NewFeed(func(ctx context.Context) (vision.Source, error) {
			if calls.Add(1) == 1 {
				time.Sleep(time.Minute)
				return late, nil
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}, capture.FeedOptions{OpenTimeout: 2 * time.Second})
		stop := running(t, f)
		time.Sleep(2*time.Second + time.Millisecond)
		synctest.Wait()
		assert.Equal(t, "opening took longer than 2s", f.Status().Err)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		assert.EqualValues(t, 1, late.closed.Load())
		assert.Zero(t, f.Status().Frames)
		require.NoError(t, stop())
	})
}

func TestASourceThatPanicsIsAFailureLikeAnyOther(t *testing.T) {
	for name, open := range map[string]func(context.Context) (vision.Source, error){
		"in Next": always(&script{steps: []step{func(context.Context) (vision.Frame, error) { panic("kaboom") }}}),
		"in open": func(context.Context) (vision.Source, error) { panic("kaboom") },
		"no source and no error": func(context.Context) (vision.Source, error) {
			return nil, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := capture.NewFeed(open, capture.FeedOptions{})
				stop := running(t, f)
				time.Sleep(100 * time.Millisecond)
				synctest.Wait()
				assert.Contains(t, f.Status().Err, "panic in the source")
				require.NoError(t, stop())
			})
		})
	}
}

func TestAnEmptyPictureIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := capture.NewFeed(always(&script{steps: []step{fails(nil)}}), capture.FeedOptions{})
		stop := running(t, f)
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		assert.Contains(t, f.Status().Err, "empty picture")
		require.NoError(t, stop())
	})
}

func TestASourceThatEndsStopsTheFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &script{steps: []step{frameAfter(0), frameAfter(0), fails(io.EOF)}}
		f := capture.NewFeed(always(src), capture.FeedOptions{})
		require.NoError(t, f.Run(t.Context()))
		frame, err := f.Next(t.Context(), 0)
		require.NoError(t, err)
		assert.EqualValues(t, 2, frame.Seq)
		_, err = f.Next(t.Context(), 2)
		assert.ErrorIs(t, err, io.EOF)
		assert.EqualValues(t, 1, src.closed.Load())
		assert.Equal(t, capture.FeedClosed, f.Status().State)
	})
}

func TestWithLoopASourceThatEndsBeginsAgainAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		f := capture.NewFeed(func(context.Context) (vision.Source, error) {
			return &script{steps: []step{frameAfter(100 * time.Millisecond), fails(io.EOF)}}, nil
		}, capture.FeedOptions{Loop: true, OnChange: func(s capture.FeedStatus) { told = append(told, string(s.State)) }})
		stop := running(t, f)
		time.Sleep(1050 * time.Millisecond)
		synctest.Wait()
		assert.EqualValues(t, 10, f.Status().Frames)
		assert.Zero(t, f.Status().Reopened)
		require.NoError(t, stop())
		assert.Equal(t, []string{"opening", "live", "closed"}, told, "a new round is no news")
	})
}

func TestALoopOverNothingPausesLikeAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var opened atomic.Int32
		f := capture.NewFeed(func(context.Context) (vision.Source, error) {
			opened.Add(1)
			return &script{steps: []step{fails(io.EOF)}}, nil
		}, capture.FeedOptions{Loop: true})
		stop := running(t, f)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		assert.EqualValues(t, 3, opened.Load())
		assert.True(t, strings.Contains(f.Status().Err, "ended before its first frame"), f.Status().Err)
		require.NoError(t, stop())
	})
}

func TestWaitingForAFrameEndsWithTheReadersOwnContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := capture.NewFeed(always(&script{steps: []step{hangs}}), capture.FeedOptions{})
		stop := running(t, f)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := f.Next(ctx, 0)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		require.NoError(t, stop())
	})
}

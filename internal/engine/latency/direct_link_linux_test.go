//go:build linux && (amd64 || arm64) && !race && !plainloops

package latency

import (
	"context"
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"soku/internal/engine"
	"soku/internal/engine/latency/requests"
	"soku/internal/measure"
	"soku/test/tier"
)

// late is a context whose timer found no processor: its deadline has passed and it is not cancelled.
type late struct{ context.Context }

func (late) Deadline() (time.Time, bool) { return time.Now().Add(-time.Second), true }

// within fails the test where work does not end in time.
func within(t *testing.T, limit time.Duration, work func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return err
	case <-time.After(limit):
		t.Fatalf("it does not end within %v", limit)
	}
	return nil
}

func TestLoopsThatSpinEndByTheClockItself(t *testing.T) {
	open := linkers()["spinning on a thread of its own"]
	for _, rate := range []float64{0, 1000} {
		near, far := sockets(t, "tcp")
		o := options("tcp")
		o.RequestRate, o.Count, o.Duration = rate, 0, measure.Duration(time.Hour)
		err := within(t, 10*time.Second, func() error {
			_, err := run(late{t.Context()}, []net.Conn{near}, o, engine.Flow{}, open)
			return err
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("at a rate of %v the end that asks says %v", rate, err)
		}
		if err := within(t, 10*time.Second, func() error { _, err := echo(late{t.Context()}, far, echoOptions{Options: o}, open); return err }); err != nil {
			t.Errorf("the echo says %v", err)
		}
		if err := within(t, 10*time.Second, func() error {
			links, _ := openTogether([]net.Conn{far})
			return echoTogether(late{t.Context()}, []net.Conn{far}, links, echoOptions{Options: o})
		}); err != nil {
			t.Errorf("the echo of several flows says %v", err)
		}
	}
}

func TestAnOpenLoopThatSpinsEndsWhenAllThatItMayAskIsUnanswered(t *testing.T) {
	open := linkers()["spinning on a thread of its own"]
	for name, change := range map[string]func(*measure.Options){
		"before its count": func(o *measure.Options) { o.Count = 1e6 },
		"before its time":  func(o *measure.Options) { o.Count, o.Duration = 0, measure.Duration(time.Hour) },
		"halfway through a message": func(o *measure.Options) {
			o.Count, o.Duration, o.Size = 0, measure.Duration(200*time.Millisecond), 64<<10
		},
	} {
		t.Run(name, func(t *testing.T) {
			near, _ := sockets(t, "tcp") // whose far end reads nothing
			o := options("tcp")
			o.RequestRate, o.Timeout = 100_000, measure.Duration(50*time.Millisecond)
			change(&o)
			err := within(t, 20*time.Second, func() error {
				_, err := run(t.Context(), []net.Conn{near}, o, engine.Flow{}, open)
				return err
			})
			if !errors.Is(err, requests.ErrSilent) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestAnObserverOfASpinningLoopHasTheSocketsOfTheProcess(t *testing.T) {
	tier.SpendsSeconds(t)
	read, write, err := os.Pipe() // as standard output often is one
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	for _, rate := range []float64{0, 1000} {
		near, far := sockets(t, "tcp")
		o := options("tcp")
		o.RequestRate, o.Count = rate, 0
		o.Duration, o.Interval = measure.Duration(300*time.Millisecond), measure.Duration(100*time.Millisecond)
		open := linkers()["spinning on a thread of its own"]
		echoing(t, far, o, open)
		shown := 0
		if _, err := run(t.Context(), []net.Conn{near}, o, engine.Flow{Observe: func(measure.Progress) {
			shown++
			if _, err := write.Write([]byte("line")); err != nil {
				t.Errorf("at a rate of %v: %v", rate, err)
			}
		}}, open); err != nil {
			t.Fatal(err)
		}
		if shown < 2 {
			t.Errorf("%d intervals are shown", shown)
		}
	}
}

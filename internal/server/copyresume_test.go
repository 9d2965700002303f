package server

import (
	"context"
	"io"
	"net"
	"os"
	"sync"
	"testing"

	"soku/internal/engine"
	"soku/internal/engine/filecopy"
	"soku/internal/measure"
	"soku/internal/wire"
	"soku/internal/wire/native"
)

// cuttingRelay carries TCP between a client and the server at addr. It resets data
// connections, in the order in which they are opened, after a number of bytes in one
// direction each; those after the last number are not cut.
func cuttingRelay(t *testing.T, addr string, after ...int64) string {
	t.Helper()
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	open := []io.Closer{l}
	t.Cleanup(func() {
		mu.Lock()
		for _, c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	next := func() int64 {
		mu.Lock()
		defer mu.Unlock()
		if len(after) == 0 {
			return 1 << 62
		}
		n := after[0]
		after = after[1:]
		return n
	}
	carry := func(in *net.TCPConn) {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			return
		}
		out := c.(*net.TCPConn)
		mu.Lock()
		open = append(open, in, out)
		mu.Unlock()
		var first [4]byte
		if _, err := io.ReadFull(in, first[:]); err != nil {
			return
		}
		_, _ = out.Write(first[:])
		most := int64(1 << 62)
		if string(first[:]) == native.Magic {
			most = next()
		}
		for _, pair := range [][2]*net.TCPConn{{in, out}, {out, in}} {
			wg.Go(func() {
				n, _ := io.CopyN(pair[1], pair[0], most)
				for _, c := range pair {
					if n == most {
						_ = c.SetLinger(0)
					}
					_ = c.Close()
				}
			})
		}
	}
	wg.Go(func() {
		for {
			in, err := l.AcceptTCP()
			if err != nil {
				return
			}
			wg.Go(func() { carry(in) })
		}
	})
	return l.Addr().String()
}

// copied is how a copy ended: both halves, and the cuts of its control connection.
type copied struct {
	own     *measure.Copy
	half    *measure.End
	control wire.ControlCuts
	err     error
}

// copyThrough copies with a session through a relay.
func copyThrough(t *testing.T, addr string, r *running, o measure.Options) copied {
	t.Helper()
	return copyUntil(t, t.Context(), addr, r, o)
}

// copyUntil is copyThrough that the end of ctx interrupts.
func copyUntil(t *testing.T, ctx context.Context, addr string, r *running, o measure.Options) (got copied) {
	t.Helper()
	set, err := filecopy.Prepare(ctx, o)
	if err != nil {
		return copied{err: err}
	}
	defer set.Close()
	session, err := native.Open(ctx, addr, r.request(measure.TestCopy, o), wire.Hooks{})
	if err != nil {
		return copied{err: err}
	}
	defer session.Close()
	defer func() { got.control = session.(wire.Resumer).ControlCuts() }()
	ctx, cancel := context.WithCancelCause(ctx)
	var watcher sync.WaitGroup
	defer func() { cancel(nil); watcher.Wait() }()
	watcher.Go(func() {
		select {
		case err := <-session.Err():
			cancel(err)
		case <-ctx.Done():
		}
	})
	conns, err := session.TCP(ctx)
	if err != nil {
		return copied{err: err}
	}
	if err := session.Start(ctx); err != nil {
		return copied{err: err}
	}
	f := engine.Flow{Reconnect: session.(wire.Resumer).Reconnect()}
	if o.Direction == measure.Reverse {
		sink, err := filecopy.SinkRoot(o)
		if err != nil {
			return copied{err: err}
		}
		defer sink.Close()
		got.own, got.err = filecopy.Sink(ctx, sink, conns, o, f)
	} else {
		got.own, got.err = filecopy.Source(ctx, set, conns, o, f)
	}
	if got.err == nil {
		got.half, got.err = session.Finish(ctx, nil)
	}
	return got
}

func serveCopies(t *testing.T, root string) *running {
	t.Helper()
	return serveCopiesWith(t, root, Config{})
}

func serveCopiesWith(t *testing.T, root string, cfg Config, change ...func(*Server)) *running {
	t.Helper()
	folder, err := filecopy.OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = folder.Close() })
	cfg.CopyRoot = folder
	return serve(t, cfg, change...)
}

// Connections are reset in the answer to the preamble of the second stage, in the middle of
// files, and right after they were opened again. Every file arrives once and as it was read.
func TestACopyGoesOnWhenItsConnectionsAreReset(t *testing.T) {
	for _, direction := range measure.Directions()[:2] {
		for _, streams := range []int{1, 3} {
			root := t.TempDir()
			r := serveCopies(t, root)
			o := copyOptions(t, func(own *filecopy.Options) { own.Files, own.FileSize, own.Stage = 12, 500_001, "apart" })
			o.Direction, o.Streams = direction, streams
			got := copyThrough(t, cuttingRelay(t, r.addr, 200_000, 700_000, 3_000_000, 97, 200, 1_000_003), r, o)
			if got.err != nil || got.half.Error != nil {
				t.Fatalf("%s, %d streams: %v, %+v", direction, streams, got.err, got.half)
			}
			source, sink := got.own, got.half.Copy
			if direction == measure.Reverse {
				source, sink = sink, source
			}
			if sink.Verified != 12 || len(sink.Stages) != 3 || sink.StageNamed(measure.StageAll).Bytes != 12*500_001 {
				t.Errorf("%s, %d streams: sink %+v", direction, streams, sink)
			}
			if len(source.Cuts) < 4 {
				t.Errorf("%s, %d streams: cuts %+v", direction, streams, source.Cuts)
			}
			for _, c := range source.Cuts {
				if c.Stream >= streams || c.ResentBytes < 0 || c.ResentBytes > 8<<20 || c.StartNs < 0 || c.DurationNs < 0 {
					t.Errorf("%s, %d streams: cut %+v", direction, streams, c)
				}
			}
			entries, err := os.ReadDir(root)
			if err != nil || len(entries) != 0 {
				t.Errorf("%s: the folder has %v, %v", direction, entries, err)
			}
		}
	}
}

package bulk

import (
	"context"
	"errors"
	"runtime"
	"sync"

	"soku/internal/measure"
	"soku/internal/sock"
)

// senderLoops runs one loop a processor; without a fast path, a goroutine a connection.
func (s *Source) senderLoops(ctx context.Context, all *sync.WaitGroup) {
	path := "splice"
	if s.o.Unit > 0 || s.o.Rate > 0 {
		path = "write"
	}
	var loops []*senderLoop
	for _, places := range sock.Deal(len(s.conns), sock.Processors) {
		writer, err := sock.OpenWriter(sock.Pick(s.conns, places), path, sock.RandomContent)
		if err != nil || s.o.Portable {
			for _, g := range loops {
				g.writer.Close()
			}
			if err == nil {
				writer.Close()
			}
			s.write(ctx, all)
			return
		}
		loops = append(loops, &senderLoop{Source: s, ctx: ctx, writer: writer, places: places, live: len(places)})
	}
	watch := sock.Unwatch(sock.Conns(s.conns))
	var running sync.WaitGroup
	for _, g := range loops {
		running.Go(g.run)
	}
	all.Go(func() { running.Wait(); watch() })
}

// senderLoop sends on some of a source's connections from one thread, in turn, and waits
// only when the queues of all of them are full or nothing is due.
type senderLoop struct {
	*Source
	ctx    context.Context
	writer *sock.Writer
	places []int // indices of the source's connections, or -1 for one that failed
	live   int
}

func (g *senderLoop) run() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer g.o.Pins.Keep(measure.Sender)()
	defer g.writer.Close()
	unit := unitMost
	if g.o.Unit > 0 || g.o.Rate > 0 {
		unit = g.unitOf()
	}
	for g.live > 0 && g.ctx.Err() == nil {
		switch room, missing := g.pass(unit); {
		case room:
		case missing > 0:
			sock.Pause(g.ctx, g.waitFor(missing))
		case g.live > 0:
			g.writer.Wait(tick)
		}
	}
}

// pass visits each connection once. room reports whether any may have room for more; if
// none has, missing is how many bytes are missing until a unit is due on one.
func (g *senderLoop) pass(unit int) (room bool, missing int64) {
	for k, i := range g.places {
		if i < 0 {
			continue
		}
		if due := g.due(g.counts[i].n.Load()); due >= 0 && due < int64(unit) {
			if wanting := int64(unit) - due; missing == 0 || wanting < missing {
				missing = wanting
			}
			continue
		}
		n, err := g.writer.Put(k, unit)
		if n > 0 {
			g.counts[i].n.Add(int64(n))
		}
		switch {
		case err == nil:
			room = true
		case !errors.Is(err, sock.ErrWouldBlock):
			g.failed(i, err)
			g.writer.Drop(k)
			g.places[k] = -1
			g.live--
		}
	}
	return room, missing
}

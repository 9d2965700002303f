package server

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"soku/internal/measure"
)

// factsAge is how long facts are good for: many clients that come together
// share a reading.
const factsAge = 5 * time.Second

// factsCache keeps the last facts of each local address. No client waits for
// older ones to be read again: a goroutine reads them during the handshake.
type factsCache struct {
	read func(context.Context, netip.Addr) measure.Facts
	age  time.Duration
	log  *slog.Logger
	work sync.WaitGroup // one count for a reading

	mu   sync.Mutex
	kept map[netip.Addr]*reading
}

type reading struct {
	facts measure.Facts
	at    time.Time     // zero before the first
	next  chan struct{} // closed when the reading that goes on has ended, or nil
}

// get is what is known of this host, and begins to read it again when that is
// old. Only the first call for an address waits.
func (f *factsCache) get(ctx context.Context, local netip.Addr) measure.Facts {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kept == nil {
		f.kept = map[netip.Addr]*reading{}
	}
	r := f.kept[local]
	if r == nil {
		r = &reading{}
		f.kept[local] = r
	}
	if r.next == nil && (r.at.IsZero() || time.Since(r.at) >= f.age) {
		r.next = make(chan struct{})
		f.work.Go(func() { f.renew(ctx, r, local) })
	}
	if r.at.IsZero() {
		f.await(r)
	}
	return r.facts
}

// latest is as get, but waits for a reading that goes on, and begins none.
func (f *factsCache) latest(local netip.Addr) measure.Facts {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.kept[local]
	if r == nil {
		return measure.Facts{}
	}
	f.await(r)
	return r.facts
}

// await waits for the reading of r that goes on, with mu given up meanwhile.
// Facts take less than 200 ms.
func (f *factsCache) await(r *reading) {
	if next := r.next; next != nil {
		f.mu.Unlock()
		<-next
		f.mu.Lock()
	}
}

func (f *factsCache) renew(ctx context.Context, r *reading, local netip.Addr) {
	var facts measure.Facts
	_ = Guard(f.log, func() error { facts = f.read(ctx, local); return nil }) // there are none then
	f.mu.Lock()
	defer f.mu.Unlock()
	r.facts, r.at = facts, time.Now()
	close(r.next)
	r.next = nil
}

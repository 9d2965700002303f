package server

import (
	"net/netip"
	"sync"

	"soku/internal/engine/flows"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/sock"
)

// ownDescriptors is what a server needs without any client: listeners, the log, and the
// files of this host that it reads.
const ownDescriptors = 64

// connectDescriptors is what a connect test may have open: its listeners, and
// connections until they are closed.
const connectDescriptors = 64

// descriptors shares the file descriptors of this process. A test reserves what its
// connections take, before it has any: at most half of what is left, so that others still
// find some, and all tests together at most three quarters, so that a server that can
// measure no more still answers. An eighth of those is left to addresses that have less than
// their share, so that many tests of one address keep out that address alone.
type descriptors struct {
	total int        // 0: no limit
	open  func() int // connections that have reserved none

	mu       sync.Mutex
	reserved int
	sources  map[netip.Prefix]int // what each has reserved, by sock.SourceOf
}

func newDescriptors(limit int) *descriptors {
	d := &descriptors{open: func() int { return 0 }, sources: map[netip.Prefix]int{}}
	if limit > 0 {
		d.total = max(limit-ownDescriptors, 8)
	}
	return d
}

// reserve takes n for a test of an address, which release gives back; an error is of kind
// refused.
func (d *descriptors) reserve(from netip.Addr, n int) (release func(), err error) {
	if d.total == 0 || n == 0 {
		return func() {}, nil
	}
	open, source := d.open(), sock.SourceOf(from)
	d.mu.Lock()
	defer d.mu.Unlock()
	if spare := d.spare(source, open); n > spare {
		return nil, measure.Fail(measure.KindRefused, "server.busy.descriptors", measure.Figures{
			"needed": n, "spare": spare, "limit": d.total + ownDescriptors,
		})
	}
	d.add(source, n)
	return sync.OnceFunc(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.add(source, -n)
	}), nil
}

// spare is how many a test of source can have; called with the lock.
func (d *descriptors) spare(source netip.Prefix, open int) int {
	all := min(3*d.total/4, d.total-open)
	left := max(0, all-d.reserved)
	held, others := d.sources[source], len(d.sources)
	if held > 0 {
		others--
	}
	share := all/(others+2) - held // with one address that is yet to come
	return min(left/2, max(share, left-all/8, 0))
}

// add counts what a source has; called with the lock.
func (d *descriptors) add(source netip.Prefix, n int) {
	d.reserved += n
	if d.sources[source] += n; d.sources[source] == 0 {
		delete(d.sources, source)
	}
}

// share is n, or that part of all where that is fewer.
func (d *descriptors) share(n, part int) int {
	if d.total == 0 {
		return n
	}
	return max(1, min(n, d.total/part))
}

// left is how many are not reserved.
func (d *descriptors) left() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.total - d.reserved
}

// descriptorsOf is what the data connections of a session and its engines take.
func descriptorsOf(t measure.Test, o measure.Options) int {
	n := option.DataConnections(o, t)
	switch {
	case t == measure.TestConnect:
		return connectDescriptors
	case option.OverUDP(o, t):
		return n + min(n, sock.Processors)
	case t != measure.TestTCP:
		return 2*n + 1 // what wakes the thread of echoes
	}
	messages := n - len(o.Direction.Flows())*o.Streams // connections of the latency under load
	return flows.Server.Descriptors(o) + 2*messages
}

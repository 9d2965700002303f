package tcp

import (
	"net"

	"soku/internal/sock"
	"soku/internal/sock/meter"
)

// loop is one thread's part of a flow.
type loop struct {
	streams []int // which of the flow's streams
	counts  []meter.Count
	done    []bool
	live    int
}

func newLoop(streams []int) loop {
	return loop{streams: streams, counts: make([]meter.Count, len(streams)), done: make([]bool, len(streams)), live: len(streams)}
}

// pick are the connections of some streams.
func pick(conns []*net.TCPConn, streams []int) []*net.TCPConn {
	out := make([]*net.TCPConn, len(streams))
	for k, i := range streams {
		out[k] = conns[i]
	}
	return out
}

func asConns(in []*net.TCPConn) []net.Conn {
	out := make([]net.Conn, len(in))
	for i, c := range in {
		out[i] = c
	}
	return out
}

// loopsOf is how many loops a flow has: one a processor, but dropping bytes needs
// no more than one.
func loopsOf(path string) int {
	if path == "discard" {
		return 1
	}
	return sock.Processors
}

// loops opens the path on all streams.
func (s *sender) loops(path string) (work func(i int), n int, err error) {
	s.size = s.unit()
	if path != "write" {
		s.size = blockSize // o.Length is how much a program would write at once
	}
	n = loopsOf(path)
	// A thread a stream that waits inside the kernel keeps queues fuller than a loop
	// over many; with very many streams the threads are in each other's way.
	patient := path == "splice" && s.pins == nil && len(s.conns) <= s.limits.threads
	if patient {
		n = len(s.conns)
	}
	var all []*sendLoop
	for _, streams := range dealt(len(s.conns), n) {
		outlet, err := sock.OpenOutlet(pick(s.conns, streams), path, s.fill())
		if err != nil {
			for _, l := range all {
				l.outlet.Close()
			}
			return nil, 0, err
		}
		all = append(all, &sendLoop{sender: s, loop: newLoop(streams), outlet: outlet})
	}
	watch := sock.Unwatch(asConns(s.conns))
	if path != "zerocopy" {
		// The kernel's words about pages that are sent keep coming until the last byte is
		// acknowledged, and the runtime's poller would take them for a broken socket.
		s.watch = watch
	}
	if patient {
		queues := s.lengthening()
		for i, l := range all {
			l.long = l.outlet.Patience(tick) && s.timed() // without patience the loop waits for room, as ever
			l.queues, l.weighs = queues, i == 0
		}
	}
	return func(i int) { all[i].run() }, len(all), nil
}

// loops opens the path on all streams.
func (r *receiver) loops(path string) (work func(i int), n int, err error) {
	var all []*receiveLoop
	for _, streams := range dealt(len(r.conns), loopsOf(path)) {
		intake, err := sock.OpenIntake(pick(r.conns, streams), path, r.length)
		if err != nil {
			for _, l := range all {
				l.intake.Close()
			}
			return nil, 0, err
		}
		all = append(all, &receiveLoop{receiver: r, loop: newLoop(streams), intake: intake, yields: path == "discard", wide: newWidening(len(streams))})
	}
	r.watch = sock.Unwatch(asConns(r.conns))
	return func(i int) { all[i].run() }, len(all), nil
}

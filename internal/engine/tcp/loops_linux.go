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

// loopsOf is how many loops a flow has: one a processor, but dropping bytes needs
// no more than one.
func loopsOf(path string) int {
	if path == "discard" {
		return 1
	}
	return sock.Processors
}

// threadEach tells whether each stream may have a thread of its own; very many are in
// each other's way.
func (f *flow) threadEach() bool { return f.pins == nil && len(f.conns) <= f.limits.threads }

// patient tells whether each stream has a thread that waits inside the kernel for what
// comes. Of two streams and more whose sender copies, too, that carries up to a fifth more
// than loops that sleep by the clock: a receiver that is woken by each piece leaves part
// of the protocol's work to be done when it reads, which the sender has to do otherwise.
// One that gets spliced pages, or a single stream, is the slower end, and loses by it.
func (r *receiver) patient(path string) bool {
	return path == "read" && r.o.TX == "write" && r.o.Rate == 0 && len(r.conns) > 1 && r.threadEach() &&
		(!r.policy.KeepOpen || r.o.Bytes == 0) // where no more than that may be taken
}

// loops opens the path on all streams.
func (s *sender) loops(path string) (work func(i int), n int, err error) {
	s.size = s.unit()
	if path != "write" {
		s.size = blockSize // o.Length is how much a program would write at once
	}
	n = loopsOf(path)
	// A thread a stream that waits inside the kernel keeps queues fuller than a loop
	// over many. A single one that copies is told of room in time.
	patient := (path == "splice" || path == "write" && len(s.conns) > 1) && s.threadEach()
	if patient {
		n = len(s.conns)
	}
	var all []*sendLoop
	for _, streams := range sock.Deal(len(s.conns), n) {
		writer, err := sock.OpenWriter(pick(s.conns, streams), path, s.fill())
		if err != nil {
			for _, l := range all {
				l.writer.Close()
			}
			return nil, 0, err
		}
		all = append(all, &sendLoop{sender: s, loop: newLoop(streams), writer: writer})
	}
	watch := sock.Unwatch(sock.Conns(s.conns))
	if path != "zerocopy" {
		// The kernel's words about pages that are sent keep coming until the last byte is
		// acknowledged, and the runtime's poller would take them for a broken socket.
		s.watch = watch
	}
	if patient {
		var queues *lengthening
		if path == "splice" {
			queues = s.lengthening()
		}
		for i, l := range all {
			l.long = l.writer.BlockTimeout(tick) && s.timed() // without patience the loop waits for room, as ever
			l.queues, l.weighs = queues, i == 0
		}
	}
	return func(i int) { all[i].run() }, len(all), nil
}

// loops opens the path on all streams.
func (r *receiver) loops(path string) (work func(i int), n int, err error) {
	n = loopsOf(path)
	patient := r.patient(path)
	if patient {
		n = len(r.conns)
	}
	var all []*receiveLoop
	for _, streams := range sock.Deal(len(r.conns), n) {
		reader, err := sock.OpenReader(pick(r.conns, streams), path, r.length)
		if err != nil {
			for _, l := range all {
				l.reader.Close()
			}
			return nil, 0, err
		}
		all = append(all, &receiveLoop{receiver: r, loop: newLoop(streams), reader: reader, yields: path == "discard", wide: newWidening(len(streams))})
	}
	r.watch = sock.Unwatch(sock.Conns(r.conns))
	if patient {
		for _, l := range all {
			l.long = l.reader.BlockTimeout(tick) // without patience the loop sleeps by the clock, as ever
		}
	}
	return func(i int) { all[i].run() }, len(all), nil
}

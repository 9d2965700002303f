package tcp

import (
	"soku/internal/sock"
	"soku/internal/sock/meter"
)

// loop is one thread and the streams it serves.
type loop struct {
	streams []int // which of the flow's streams
	counts  []meter.Count
	done    []bool
	live    int
}

func newLoop(streams []int) loop {
	return loop{streams: streams, counts: make([]meter.Count, len(streams)), done: make([]bool, len(streams)), live: len(streams)}
}

// loopsOf returns how many loops a flow begins with: one a processor, but only one if bytes are
// discarded, because that takes so little time.
func loopsOf(path string) int {
	if path == "discard" {
		return 1
	}
	return sock.Processors
}

// threadEach reports whether each stream may have a thread of its own; very many threads
// slow each other down.
func (f *flow) threadEach() bool { return f.pins == nil && len(f.conns) <= f.limits.threads }

// blocking reports whether each stream has a thread that blocks in the kernel until data
// arrives. For two or more streams whose sender also copies, this carries up to a fifth
// more than loops that sleep for fixed times: a receiver that is woken for each piece
// does part of the protocol's work when it reads, which the sender would have to do
// otherwise. A receiver of spliced pages, or of a single stream, is the slower end, and
// loses by it.
func (r *receiver) blocking(path string) bool {
	return path == "read" && r.limit == nil && r.o.TX == "write" && r.o.Rate == 0 && len(r.conns) > 1 && r.threadEach() &&
		(!r.policy.KeepOpen || r.o.Bytes == 0) // otherwise no more than o.Bytes may be read
}

// loops opens path on all streams.
func (s *sender) loops(path string) (work func(i int), n int, err error) {
	s.size = s.unit()
	if path != "write" {
		s.size = blockSize // o.Length applies only to paths that write
	}
	n = loopsOf(path)
	// A thread a stream that blocks in the kernel keeps queues fuller than a loop
	// over many streams. A single stream that copies is woken in time anyway.
	blocking := (path == "splice" || path == "write" && len(s.conns) > 1) && s.threadEach()
	if blocking {
		n = len(s.conns)
	}
	var all []*sendLoop
	for _, streams := range sock.Deal(len(s.conns), n) {
		writer, err := sock.OpenWriter(sock.Pick(s.conns, streams), path, s.content())
		if err != nil {
			for _, l := range all {
				l.writer.Close()
			}
			return nil, 0, err
		}
		l := &sendLoop{sender: s, loop: newLoop(streams), writer: writer, rest: make([]int, len(streams))}
		if s.timed() && !s.policy.KeepOpen {
			l.tails = newTails(len(streams), s.earlyMargin())
		}
		all = append(all, l)
	}
	watch := sock.Unwatch(sock.Conns(s.conns))
	if path != "zerocopy" {
		// The kernel reports sent pages in the error queue until the last byte is
		// acknowledged, and the runtime's poller would take these reports for a broken
		// socket.
		s.watch = watch
	}
	if blocking {
		var queues *lengthening
		paced := s.pacedInHost()
		if path == "splice" && !paced {
			queues = s.lengthening()
		}
		for i, l := range all {
			// With more streams than processors the kernel's own queue is short enough, and the
			// further wake-ups cost more than they gain.
			if path == "splice" && paced && len(all) <= sock.Processors {
				l.writer.LimitUnsent(0, unsentMost)
			}
			l.long = l.writer.BlockTimeout(tick) && s.timed() // if false, the loop waits for room
			l.queues, l.compares = queues, i == 0
		}
	}
	return func(i int) { all[i].run() }, len(all), nil
}

// loops opens path on all streams.
func (r *receiver) loops(path string) (work func(i int), n int, err error) {
	n = loopsOf(path)
	blocking := r.blocking(path)
	if blocking {
		n = len(r.conns)
	}
	var all []*receiveLoop
	for _, streams := range sock.Deal(len(r.conns), n) {
		reader, err := sock.OpenReader(sock.Pick(r.conns, streams), path, r.length)
		if err != nil {
			for _, l := range all {
				l.reader.Close()
			}
			return nil, 0, err
		}
		if r.limit != nil {
			reader.Bound(r.length)
		}
		all = append(all, r.newReceiveLoop(streams, reader))
	}
	r.watch = sock.Unwatch(sock.Conns(r.conns))
	if blocking {
		for _, l := range all {
			l.long = l.reader.BlockTimeout(tick) // if false, the loop sleeps for fixed times
		}
	}
	return func(i int) { all[i].run() }, len(all), nil
}

// content is what the writers send.
func (s *sender) content() *sock.Content {
	if s.policy.Repeating {
		return sock.RepeatingContent
	}
	return sock.RandomContent
}

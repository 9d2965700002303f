package tcp

import (
	"io"

	"soku/internal/measure"
	"soku/internal/sock"
)

// workers returns what sends: loops over many streams if the system has a fast path,
// otherwise a worker a stream, which also keeps rates and sends verified bytes.
func (s *sender) workers() (work func(i int), n int, err error) {
	if s.policy.Contents.Source != nil {
		return s.sources()
	}
	if s.o.Rate > 0 && s.o.TX == "sendfile" {
		s.path = s.o.TX
		return s.pacedLoops(s.o.TX)
	}
	if s.o.Rate == 0 && !OptionsOf(s.o).Verify && !s.limits.portable {
		for _, path := range sock.Preferred(s.o.TX, sock.WriterPaths()) {
			if work, n, err = s.loops(path); err == nil {
				s.path = path
				return work, n, nil
			}
		}
	}
	if s.o.TX != "" && s.o.TX != auto && s.o.TX != "write" {
		return nil, 0, cannot("tx", s.o.TX, err)
	}
	payload := randomPayload()
	switch {
	case OptionsOf(s.o).Verify:
		payload = knownPayload()
	case s.policy.Repeating:
		payload = repeatingPayload()
	}
	s.path = "write"
	return func(i int) { s.write(i, payload) }, len(s.conns), nil
}

// workers returns what receives, as for a sender.
func (r *receiver) workers() (work func(i int), n int, err error) {
	if r.policy.Contents.Sink != nil {
		return r.sinks()
	}
	verify := OptionsOf(r.o).Verify
	if !verify && !r.limits.portable {
		for _, path := range sock.Preferred(r.o.RX, sock.ReaderPaths()) {
			if work, n, err = r.loops(path); err == nil {
				r.path = path
				return work, n, nil
			}
		}
	}
	if r.o.RX != "" && r.o.RX != auto && r.o.RX != "read" {
		return nil, 0, cannot("rx", r.o.RX, err)
	}
	var expected *payload
	if verify {
		expected = knownPayload()
	}
	r.path = "read"
	return func(i int) { r.read(i, expected, io.Discard) }, len(r.conns), nil
}

// auto lets the system choose a path.
const auto = "auto"

func cannot(option, path string, err error) error {
	if err != nil {
		return err
	}
	return measure.Fail(measure.KindUsage, "tcp.path", measure.Figures{"option": option, "path": path})
}

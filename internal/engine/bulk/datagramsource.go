package bulk

import (
	"context"
	"errors"
	"net"
	"os"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/sock/datagram"
)

// DatagramSource sends datagrams of one size over connected UDP sockets. Its counts may
// be read while it runs.
type DatagramSource struct {
	size   int
	rate   float64
	conns  []net.Conn
	counts []count
	pins   *sock.Pins
	begin  time.Time
}

// NewDatagramSource returns a source of datagrams of size bytes, 1 to 65507, over conns,
// which the caller closes. rate limits each socket, in bit/s of payload on average since
// the start; 0 is no limit. pins pin the loops to processors; nil pins none.
func NewDatagramSource(conns []net.Conn, size int, rate float64, pins *sock.Pins) *DatagramSource {
	return &DatagramSource{size: size, rate: rate, conns: conns, counts: make([]count, len(conns)), pins: pins}
}

// Bytes returns the bytes that the kernel accepted so far, one element a socket.
func (s *DatagramSource) Bytes() []int64 { return read(s.counts) }

// Run sends until ctx ends, and returns within 100 ms of that. Datagrams that the far end
// or the host refuses are not counted and are sent again. An error has kind broken or
// usage. It may be called once.
func (s *DatagramSource) Run(ctx context.Context) error {
	if len(s.conns) == 0 {
		return measure.Fail(measure.KindInternal, "bulk.no_sockets", nil)
	}
	path, err := datagram.SendPath("", s.conns)
	if err != nil {
		return err
	}
	s.begin = sock.Now()
	stop := context.AfterFunc(ctx, func() {
		for _, c := range s.conns {
			_ = c.SetWriteDeadline(time.Unix(1, 0))
		}
	})
	defer stop()
	loops := min(sock.Processors, len(s.conns))
	return runLoops(s.pins, measure.Sender, loops, len(s.conns), func(places []int) error { return s.send(ctx, path, places) })
}

// send is the loop over the sockets at the indices places.
func (s *DatagramSource) send(ctx context.Context, path string, places []int) error {
	sender := datagram.NewSender(path, s.size)
	var writers []*datagram.Writer
	for _, i := range places {
		o, err := sender.Open(s.conns[i])
		if err != nil {
			return err
		}
		writers = append(writers, o)
	}
	for ctx.Err() == nil {
		took := false
		for k, o := range writers {
			n := s.due(places[k], sender.Most())
			if n == 0 {
				continue
			}
			sent, err := o.Send(n)
			if sent > 0 {
				took = true
				s.counts[places[k]].n.Add(int64(sent) * int64(s.size))
			}
			if err != nil && !sock.Refused(err) && !sock.NoBuffers(err) && !errors.Is(err, os.ErrDeadlineExceeded) {
				return measure.Fail(measure.KindBroken, "bulk.datagram_send", measure.Figures{
					"size_bytes": s.size, "peer": s.conns[places[k]].RemoteAddr().String(), "cause": err,
				})
			}
		}
		if !took {
			sock.Pause(ctx, time.Millisecond)
		}
	}
	return nil
}

// due returns how many datagrams socket i may send now, limited to most.
func (s *DatagramSource) due(i, most int) int {
	if s.rate <= 0 {
		return most
	}
	owed := int64(s.rate/8*sock.Since(s.begin).Seconds()) - s.counts[i].n.Load()
	return int(max(0, min(int64(most), owed/int64(s.size))))
}

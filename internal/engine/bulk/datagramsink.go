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

// DatagramSink counts the bytes of datagrams received on UDP sockets, by port. Its counts
// may be read while it serves.
type DatagramSink struct {
	unit  int
	ports []count
	pins  *sock.Pins
}

// NewDatagramSink returns a sink for this many ports that copies unit bytes of each
// datagram out of the kernel; 0 copies the first few and uses the length that the kernel
// reports. In either case the whole datagram is counted. pins pin the loops to
// processors; nil pins none.
func NewDatagramSink(ports, unit int, pins *sock.Pins) *DatagramSink {
	if unit <= 0 {
		unit = 64
	}
	return &DatagramSink{unit: min(unit, largestDatagram), ports: make([]count, ports), pins: pins}
}

const largestDatagram = 65535

// Bytes returns the received bytes so far, one element a port.
func (s *DatagramSink) Bytes() []int64 { return read(s.ports) }

// Serve receives on the sockets, one a port, until ctx ends, and returns within 100 ms of
// that. The caller closes the sockets. An error has kind broken. It may be called once.
func (s *DatagramSink) Serve(ctx context.Context, sockets []*net.UDPConn) error {
	conns := sock.Conns(sockets)
	path, err := datagram.ReceivePath("", conns)
	if err != nil {
		return err
	}
	loops := min(sock.Processors, len(sockets))
	if path == datagram.Read {
		loops = len(sockets)
	}
	return runLoops(s.pins, measure.Receiver, loops, len(sockets), func(places []int) error {
		return s.take(ctx, path, conns, places)
	})
}

// take is the loop over the sockets at the indices places.
func (s *DatagramSink) take(ctx context.Context, path string, conns []net.Conn, places []int) error {
	box, err := datagram.NewReceiver(path, s.unit)
	if err != nil {
		return err
	}
	defer box.Close()
	var inlets []*datagram.Inlet
	for _, i := range places {
		in, err := box.Open(conns[i])
		if err != nil {
			return err
		}
		inlets = append(inlets, in)
	}
	wait := time.Duration(0)
	for ctx.Err() == nil {
		got := int64(0)
		for _, k := range box.Ready(wait) {
			if box.Blocks() {
				_ = conns[places[k]].SetReadDeadline(sock.Now().Add(tick))
			}
			n, err := inlets[k].Receive()
			if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) && !sock.Refused(err) {
				return measure.Fail(measure.KindBroken, "bulk.datagram_receive", measure.Figures{
					"address": conns[places[k]].LocalAddr().String(), "cause": err,
				})
			}
			if n > 0 {
				bytes := lengths(box)
				got += bytes
				s.ports[places[k]].n.Add(bytes)
			}
		}
		if wait = tick; got > 0 {
			wait = 0
		}
	}
	return nil
}

// lengths returns the sum of the datagram lengths of the last Receive.
func lengths(box *datagram.Receiver) (n int64) {
	for t, ok := box.Next(); ok; t, ok = box.Next() {
		for _, length, ok := t.Next(); ok; _, length, ok = t.Next() {
			n += int64(length)
		}
	}
	return n
}

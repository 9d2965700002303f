package iperf3

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"time"

	"soku/internal/measure"
)

// patience is how long a client tries to connect unless it is told otherwise; that
// of iperf3 is the system's.
const patience = 2 * time.Minute

// options are the settings as a trial takes them.
func (s *Settings) options() (measure.Test, measure.Options) {
	test := measure.TestTCP
	if s.UDP {
		test = measure.TestUDP
	}
	o := measure.Defaults(test)
	o.Via, o.Port, o.Streams = measure.ViaIperf3, s.Port, s.Streams
	o.Duration = measure.Duration(time.Duration(s.Time) * time.Second)
	o.Omit = measure.Duration(time.Duration(s.Omit) * time.Second)
	o.Bytes = measure.Size(s.Bytes)
	o.Rate = measure.Rate(s.Rate * int64(s.Streams))
	if s.Interval > 0 {
		o.Interval = measure.Duration(s.Interval * float64(time.Second))
	}
	switch {
	case s.Reverse:
		o.Direction = measure.Reverse
	case s.Bidir:
		o.Direction = measure.Bidirectional
	}
	o.Window, o.TOS = measure.Size(s.Window), s.TOS
	o.IPVersion, o.Bind, o.Device = s.IPVersion, s.Bind, s.Device
	o.ConnectTimeout = measure.Duration(patience)
	if s.ConnectTimeout > 0 {
		o.ConnectTimeout = measure.Duration(time.Duration(s.ConnectTimeout) * time.Millisecond)
	}
	if s.Affinity >= 0 {
		o.Pin = itoa(s.Affinity) + "/off"
	}
	if s.UDP {
		s.datagramOptions(&o)
	} else {
		s.streamOptions(&o)
	}
	return test, o
}

// streamOptions are those of TCP. Bytes are written and read unless the command
// line says otherwise, as iperf3 does: figures must be of the same thing.
func (s *Settings) streamOptions(o *measure.Options) {
	o.Length, o.Congestion, o.MSS, o.NoDelay = measure.Size(s.Length), s.Congestion, s.MSS, s.NoDelay
	o.TX, o.RX = "write", "read"
	if s.ZeroCopy {
		o.TX = "sendfile"
	}
	if s.SkipRxCopy {
		o.RX = "discard"
	}
	if s.Blocks > 0 {
		o.Bytes = measure.Size(blocksOf(s.Blocks, s.Length))
	}
}

func (s *Settings) datagramOptions(o *measure.Options) {
	if o.Size = measure.Size(s.Length); o.Size == 0 {
		o.Size = usualDatagram
	}
	if s.GSRO {
		o.TX, o.RX = "gso", "gro"
	}
	if s.Blocks > 0 {
		o.Bytes = measure.Size(blocksOf(s.Blocks, int64(o.Size)))
	}
}

// failure is what iperf3 says where this went wrong.
func failure(err error) string {
	e := measure.AsError(err, measure.KindBroken)
	switch e.Kind {
	case measure.KindUnreachable:
		return "error - unable to connect to server - server may have stopped running or use a different port, firewall issue, etc.: " + reason(err)
	case measure.KindInterrupted:
		return "interrupt - the client has terminated"
	}
	return "error - " + oneLine(e)
}

// reason is the system's sentence inside err as C has it, or all of err.
func reason(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) && errno.Error() != "" {
		text := errno.Error()
		return strings.ToUpper(text[:1]) + text[1:]
	}
	return oneLine(err)
}

package tcp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/sock/meter"
)

// buffersMost limits the read buffers of all workers of a flow, in bytes.
const buffersMost = 32 << 20

// read is the portable worker of one stream: it waits until the connection has data. It
// compares the data with expected, if that is not nil, and writes it to sink.
func (r *receiver) read(stream int, expected *payload, sink io.Writer) {
	defer r.pins.Keep(measure.Receiver)()
	conn, cell := r.conns[stream], r.rec.Cell(stream)
	buf := make([]byte, min(r.length, max(buffersMost/len(r.conns), 64<<10)))
	var count meter.Count
	waiter := r.balancer()
	for {
		n, err := conn.Read(buf)
		if n > 0 {
			if expected != nil && !r.verified(stream, count.Bytes, buf[:n], expected) {
				return
			}
			if _, err := sink.Write(buf[:n]); err != nil {
				r.group.Stop(keeping(conn, stream, len(r.conns), err))
				return
			}
			count.Bytes += int64(n)
			count.Last = sock.Now()
			cell.Publish(count)
			if !r.first.Come() {
				r.begin(count.Last)
			}
			if r.enough(n) {
				return
			}
			if waiter != nil && !waiter.Balance(r.limit.Slowed(int64(n)), time.Time{}) {
				return
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			r.ended(stream)
			return
		case !expired(err):
			r.group.Stop(engine.FailStream(r.conns, stream, "flow.receive", measure.Figures{"cause": err}))
			return
		case r.over():
			return
		}
	}
}

// verified compares received bytes at an offset in the stream; after a difference it
// stops the flow and returns false.
func (r *receiver) verified(stream int, offset int64, got []byte, expected *payload) bool {
	want := expected.at(offset, len(got))
	if bytes.Equal(got, want) {
		return true
	}
	i := 0
	for got[i] == want[i] {
		i++
	}
	r.group.Stop(engine.FailStream(r.conns, stream, "tcp.verify", measure.Figures{
		"byte": offset + int64(i), "got": fmt.Sprintf("%#02x", got[i]), "want": fmt.Sprintf("%#02x", want[i]),
	}))
	return false
}

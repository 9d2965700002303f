package udp

import (
	"encoding/binary"
	"testing"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/test/tier"
)

// plain is a foreign format: a number from 1, and ns. It has no FIN.
type plain struct{}

func (plain) Size() int { return 16 }

func (plain) PutAll(b []byte, size, _ int, first uint64, at time.Time) {
	for ; len(b) >= size; b = b[size:] {
		first++
		binary.BigEndian.PutUint64(b, first)
		binary.BigEndian.PutUint64(b[8:], uint64(at.UnixNano()))
	}
}

func (plain) Parse(b []byte) (number uint64, sentNs int64, fin, ok bool) {
	if len(b) < 16 {
		return 0, 0, false, false
	}
	return binary.BigEndian.Uint64(b) - 1, int64(binary.BigEndian.Uint64(b[8:])), false, true
}

func (plain) Fin([]byte, int, uint64, time.Time) int { return 0 }

func TestDatagramsOfAnotherFormatAreCounted(t *testing.T) {
	tier.SpendsSeconds(t)
	eachWay(t, func(t *testing.T, w way) {
		a, b := pairs(t, 2)
		from := w.options(300*time.Millisecond, 2, 8_000_000)
		from.Size = 1000
		to := from
		to.Duration = 0 // only the protocol knows its end
		over := make(chan struct{})
		m := engine.FlowPolicy{KeepOpen: true, Datagrams: plain{}}
		var r outcome
		done := make(chan struct{})
		go func() {
			defer close(done)
			m := m
			m.Over = over
			r.end, r.err = Receive(t.Context(), b, to, engine.Flow{Direction: measure.Forward, Policy: m})
		}()
		end, err := Send(t.Context(), a, from, engine.Flow{Direction: measure.Forward, Policy: m})
		close(over)
		<-done
		if err != nil || r.err != nil {
			t.Fatal(err, r.err)
		}
		sent, _, _ := total(end)
		got, _, bytes := total(r.end)
		if sent.Sent == 0 || got.Received != sent.Sent || bytes != 1000*got.Received || got.Lost != 0 || got.Duplicated != 0 {
			t.Errorf("sent %d, received %+v, %d bytes", sent.Sent, got, bytes)
		}
	})
}

func TestASenderWithoutADurationStopsWhenTheProtocolEndsTheFlow(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		a, b := pairs(t, 1)
		over := make(chan struct{})
		come := make(chan struct{}, 1)
		go func() {
			for buf := make([]byte, 2000); ; {
				if _, err := b[0].Read(buf); err != nil {
					return
				}
				select {
				case come <- struct{}{}:
				default:
				}
			}
		}()
		go func() { <-come; close(over) }()
		o := w.options(0, 1, 80_000) // a datagram each 140 ms
		o.Duration = 0
		end, err := Send(t.Context(), a, o, engine.Flow{Direction: measure.Forward, Policy: engine.FlowPolicy{KeepOpen: true, Over: over, Datagrams: plain{}}})
		if n, _, _ := total(end); err != nil || n.Sent == 0 || n.Sent > 100 {
			t.Errorf("sent %d datagrams: %v", n.Sent, err)
		}
	})
}

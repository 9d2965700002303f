package tcp

import (
	"io"
	"math"
	"testing"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/test/loopback"
	"soku/test/tier"
)

// held is a sink that takes nothing for a while, as a program that is kept from its processor.
type held struct {
	from  time.Time
	after time.Duration
	hold  time.Duration
}

func (h *held) Write(b []byte) (int, error) {
	if h.hold > 0 && time.Since(h.from) > h.after {
		time.Sleep(h.hold)
		h.hold = 0
	}
	return len(b), nil
}

func (*held) Close() error { return nil }

// A stall of the program shows in no sample: its kernel received meanwhile.
func TestSamplesAreOfWhatArrivesAndNotOfWhatIsRead(t *testing.T) {
	tier.WatchesTheClock(t)
	a, b := loopback.TCP(t, 1)
	o := options(1500*time.Millisecond, 1)
	o.Rate, o.Window = 80_000_000, 4<<20
	sink := &held{from: time.Now(), after: 400 * time.Millisecond, hold: 300 * time.Millisecond}
	received := make(chan outcome, 1)
	go func() {
		var r outcome
		m := engine.FlowPolicy{Contents: engine.Contents{Sink: func() (io.WriteCloser, error) { return sink, nil }}}
		r.end, r.err = Receive(t.Context(), b, o, engine.Flow{Direction: measure.Forward, Policy: m})
		received <- r
	}()
	var s outcome
	s.end, s.err = Send(t.Context(), a, o, engine.Flow{Direction: measure.Forward})
	r := <-received
	lossless(t, s, r)
	sum := int64(0)
	for i, sample := range r.end.Samples {
		sum += sample.ReceivedBytes
		if off := sample.Bps()/80e6 - 1; i > 0 && sample.EndNs < 1400e6 && math.Abs(off) > 0.3 {
			t.Errorf("sample %d has %.1f Mbit/s", i, sample.Bps()/1e6)
		}
	}
	if got := receivedBytes(r.end); sum != got {
		t.Errorf("the samples have %d bytes, the flow has %d", sum, got)
	}
}

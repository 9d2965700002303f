package scale_test

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	trials "soku/internal/agent"
	"soku/internal/fleet"
	"soku/test/tier"
)

// Hub and agent have one clock, so that an offset is the error of the comparison. It is never more than half of the
// shortest round trip.
func TestTheClockOfAnAgentIsComparedThroughAConnection(t *testing.T) {
	tier.SpendsSeconds(t)
	n := 20
	if os.Getenv("SOKU_SCALE") != "" {
		n = 500
	}
	h := newHub(t)
	token := tokensFor(t, h, 1)[0]
	person := h.connect()
	note := newTable(t, "the clock of an agent")
	for _, delay := range []time.Duration{0, 5 * time.Millisecond} {
		a, err := newAgent(int(delay))
		if err != nil {
			t.Fatal(err)
		}
		a.back, a.everyone = make(chan *agent, 10), make(chan *agent, 10)
		if err := a.join(h, token); err != nil {
			t.Fatal(err)
		}
		through := &hub{t: t, port: h.port, tls: h.tls}
		if delay > 0 {
			through.port = relayTo(t, fmt.Sprintf("127.0.0.1:%d", h.port+1), delay) - 1
		}
		if err := a.connect(through); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(a.conn.Close)
		if err := a.hello(); err != nil {
			t.Fatal(err)
		}
		word := fmt.Sprint("clock", delay.Milliseconds())
		answers, err := person.SubscribeSync(fleet.AllUp(fleet.UpAnswer, word))
		if err != nil {
			t.Fatal(err)
		}
		var off, half []time.Duration
		for range n {
			c, err := trials.CompareClocks(func() (int64, error) {
				if err := person.PublishRequest(fleet.Down(a.id, fleet.DownAsk), fleet.Up(a.id, fleet.UpAnswer, word), nil); err != nil {
					return 0, err
				}
				m, err := answers.NextMsg(waits)
				if err != nil {
					return 0, err
				}
				beat, err := fleet.Decode[fleet.Beat](m.Data, fleet.MaxState)
				return beat.UnixNs, err
			})
			if err != nil {
				t.Fatal(err)
			}
			if c.Offset.Abs() > c.Uncertainty || c.Uncertainty < delay {
				t.Errorf("%s ± %s through %s", c.Offset, c.Uncertainty, 2*delay)
			}
			off, half = append(off, c.Offset.Abs()), append(half, c.Uncertainty)
		}
		slices.Sort(off)
		slices.Sort(half)
		at := fmt.Sprintf("a clock compared at a round trip of %s: error, ", 2*delay)
		note(at+"median", "%s", milli(off[n/2]))
		note(at+"p99", "%s", milli(off[n*99/100]))
		note(at+"stated, median", "± %s", milli(half[n/2]))
	}
}

func milli(d time.Duration) string { return fmt.Sprintf("%.3f ms", d.Seconds()*1e3) }

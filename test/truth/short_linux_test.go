package truth

import (
	"fmt"
	"math"
	"testing"

	"soku/internal/measure"
	"soku/internal/text/messages"
)

const capped = `
hosts:
  client:
  server: {server: true}
routers:
  gateway:
links:
  - {from: client, to: gateway, rate: 100M}
  - {from: gateway, to: server}
`

// A short trial has few samples, and one that has more than the path carries moves its figure.
func TestAShortTrialIsOfThePathOrNotCertain(t *testing.T) {
	l := network(t, capped)
	truth, err := l.Topology.Truth("client", "server", "")
	if err != nil {
		t.Fatal(err)
	}
	want, trials, most := float64(truth.GoodputBps), 16, 1
	agrees(t, func() error {
		var wrong []string
		for range trials {
			r := run(t, l, "tcp", "-t", "1s", "-C", "cubic")
			if off := r.Summary.GoodputBps/want - 1; r.Summary.Confidence == measure.High && math.Abs(off) > 0.012 {
				wrong = append(wrong, messages.FormatRate(r.Summary.GoodputBps))
			}
		}
		if len(wrong) > most {
			return fmt.Errorf("of %d trials these are high and not %s: %v", trials, messages.FormatRate(want), wrong)
		}
		return nil
	})
}

// A queue of 4 MB and more lasts for half a second and longer at 100 Mbit/s. A sender that fills it to the
// end makes the receiver wait for it, which takes the time of another short trial.
func TestATrialEndsWithoutTheQueueOfItsSender(t *testing.T) {
	l := network(t, capped)
	agrees(t, func() error {
		var all []float64
		for range 3 {
			all = append(all, run(t, l, "tcp", "-t", "2s", "-w", "4M", "-C", "cubic").Summary.DurationNs.Std().Seconds())
		}
		if m := median(all); m < 1.8 || m > 2.2 {
			return fmt.Errorf("a trial of 2 s took %.3f s: %.3f", m, all)
		}
		return nil
	})
}

// A shaper on the sender's own interface keeps its socket full while its thread sleeps.
func TestAShaperOnTheSendersOwnInterfaceIsNoProcessor(t *testing.T) {
	l := network(t, `
hosts:
  client:
  server: {server: true}
links:
  - {from: client, to: server, rate: 50M}
`)
	agrees(t, func() error {
		r := run(t, l, "udp", "-t", "2s", "-b", "80M")
		if v := r.Verdict; v == nil || v.LimitedBy != measure.BottleneckPathShaper || v.Confidence == measure.Low {
			return fmt.Errorf("%s of %s: %+v", messages.FormatRate(r.Summary.GoodputBps), messages.FormatRate(float64(r.Options.Rate)), r.Verdict)
		}
		return nil
	})
}

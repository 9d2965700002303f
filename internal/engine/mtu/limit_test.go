package mtu

import (
	"testing"
	"testing/synctest"
	"time"

	"soku/internal/engine/probe"
	"soku/internal/measure"
	"soku/internal/sock"
)

// A target that answers closed ports once a second, and whose answers somebody has used up,
// is silent about sizes that arrive: these are not too large.
func TestATargetThatLimitsItsAnswersDoesNotLowerTheSize(t *testing.T) {
	for _, c := range []struct{ carries, burst int }{{1500, 1}, {1500, 6}, {1300, 1}, {1300, 6}} {
		synctest.Test(t, func(t *testing.T) {
			road := road(3, 2, c.carries)
			tokens := map[string]float64{}
			spent := map[string]time.Time{}
			s := &scripted{comes: func(hop, size int) (answers []probe.Answer) {
				for _, a := range road(hop, size) {
					node, now := a.From.String(), sock.Now()
					if spent[node].IsZero() {
						spent[node] = now // empty at first
					}
					tokens[node] = min(float64(c.burst), tokens[node]+now.Sub(spent[node]).Seconds())
					spent[node] = now
					if tokens[node] >= 1 {
						tokens[node]--
						answers = append(answers, a)
					}
				}
				return answers
			}}
			f := finderOf(s)
			f.o.Own, f.o.Timeout = probe.Options{Probe: "udp", MaxHops: 30}, measure.Duration(time.Second)
			f.answerTimeout = time.Second
			m, err := searchFlows(t.Context(), f, 1)
			if err != nil || m.Bytes != c.carries {
				t.Fatalf("burst %d: %d bytes, want %d: %v", c.burst, m.Bytes, c.carries, err)
			}
			if c.carries < 1500 && (m.Limit != measure.LimitBlackHole || m.After == nil || m.After.Hop != 2) {
				t.Errorf("burst %d: limit %s after %+v", c.burst, m.Limit, m.After)
			}
		})
	}
}

package advice_test

import (
	"fmt"
	"soku/test/plans"
	"strings"
	"testing"
	"time"

	"soku/internal/campaign/advice"
	"soku/internal/campaign/plan"
)

func TestEstimateAddsUpTimeAndBytes(t *testing.T) {
	p := plans.Parse(t, plans.Study+"budget: {egress_price_per_gb: 0.5, bytes: 2G}\n")
	e := advice.EstimateOf(p, nil)
	const overhead = 300 * time.Millisecond
	// 8 transfers of 1 s and 8 pings of 10 x 100 ms
	if want := 8*(time.Second+overhead) + 8*(time.Second+overhead); e.Time != want {
		t.Errorf("time is %s, want %s", e.Time, want)
	}
	if want := int64(8*1_000_000 + 8*2*10*56); e.Bytes != want {
		t.Errorf("bytes are %d, want %d", e.Bytes, want)
	}
	if e.Patterns != 2 || e.Trials != 16 || len(e.BytesUnknown)+len(e.TimeUnknown) != 0 || e.MaxBytes != 2e9 {
		t.Errorf("estimate is %+v", e)
	}
	if *e.Price != float64(e.Bytes)/2e9 || *e.MaxPrice != 1 {
		t.Errorf("prices are %v and %v", *e.Price, *e.MaxPrice)
	}
	half := advice.EstimateOf(p, plan.Selection{{Name: "sku", Value: []string{"large"}}})
	if half.Trials != 8 || half.Patterns != 1 || half.Bytes != e.Bytes/2 {
		t.Errorf("one pattern of two is %+v", half)
	}
}

func TestAnEstimateNamesUnknownParts(t *testing.T) {
	p := plans.Parse(t, `campaign: x
endpoints: {vm: {address: h}}
to: vm
tests:
  flood: {test: tcp}
  amount: {test: tcp, bytes: 1G}
  paced: {test: tcp, bytes: 1G, rate: 8G, direction: bidirectional}
  pong: {test: latency}
  counted: {test: latency, count: 5, size: 100}
  open: {test: latency, request_rate: 10, duration: 1s, size: 100}
rounds: 1
`)
	e := advice.EstimateOf(p, nil)
	if fmt.Sprint(e.BytesUnknown, e.TimeUnknown) != "[flood pong] [amount counted]" {
		t.Errorf("unknown are %v and %v", e.BytesUnknown, e.TimeUnknown)
	}
	if want := int64(1e9 + 2e9 + 2*5*100 + 2*10*100); e.Bytes != want {
		t.Errorf("bytes are %d, want %d", e.Bytes, want)
	}
}

func TestTheEstimateIsOfTrialsSideBySide(t *testing.T) {
	for pairs, want := range map[string][3]int{ // trials of a block, of which concurrent, seconds of a block
		"{mesh: [a, b, c, d, e, f]}":                                 {30, 3, 0},
		"{list: [[a, b], [c, d], [e, f]]}":                           {3, 3, 1},
		"{between: [[a], [b, c, d]]}":                                {3, 1, 3},
		"{mesh: [a, b, c, d, e, f]}\ncontention: together":           {30, 30, 1},
		"{list: [[a, b], [c, d], [e, f]]}\ntrials_at_once: 1":        {3, 1, 3},
		"{list: [[a, b], [c, d], [e, f], [a, c]]}\npause: 1s":        {4, 2, 2},
		"{list: [[a, b], [c, d]]}\ncontention: [isolated, together]": {4, 2, 3}, // one pair at a time, then both
	} {
		p := plans.Parse(t, plans.WithPairs(pairs)+"rounds: 1\n")
		e := advice.EstimateOf(p, nil)
		seconds := float64(want[2]) + 0.3*float64(want[2])
		if strings.Contains(pairs, "pause") {
			seconds += float64(want[2]) // the pause of a host is the time of its trials
		}
		if want[2] == 0 { // whatever the greedy order makes of 10 turns
			if e.Time.Seconds() < 10*1.3 || e.Time.Seconds() > 14*1.3 {
				t.Errorf("%s takes %s", pairs, e.Time)
			}
			seconds = e.Time.Seconds()
		}
		if e.Trials != want[0] || e.AtOnce != want[1] || e.Pairs != p.PairCount() || e.Time.Seconds() < seconds-0.01 || e.Time.Seconds() > seconds+0.01 {
			t.Errorf("%s: %+v, want %d trials, %d at once, %.1f s", pairs, e, want[0], want[1], seconds)
		}
	}
}

func TestTheEstimateOfRoundsAtFixedTimesHasTheirWaits(t *testing.T) {
	const text = plans.Minimal + "rounds: 4\n"
	round := advice.EstimateOf(plans.Parse(t, text), nil).Time / 4
	for _, c := range []struct{ every, step time.Duration }{{time.Hour, time.Hour}, {round, round}, {round - time.Millisecond, 2 * (round - time.Millisecond)}} {
		p := plans.Parse(t, text+"every: "+c.every.String()+"\n")
		if e := advice.EstimateOf(p, nil); e.Time != 3*c.step+round || e.Round != round {
			t.Errorf("every %v: %v with rounds of %v, want %v with %v", c.every, e.Time, e.Round, 3*c.step+round, round)
		}
		var warned []advice.DesignWarning
		for _, w := range advice.Warnings(p, nil) {
			if w.Code == advice.WarnMissedTimes {
				warned = append(warned, w)
			}
		}
		if long := c.step > c.every; long != (len(warned) == 1) || long && (warned[0].Round != round || warned[0].Step != c.step) {
			t.Errorf("every %v: warnings are %+v", c.every, warned)
		}
	}
}

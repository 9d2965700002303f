package truth

import (
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
)

// rateCodes are the findings about a rate that was not reached.
var rateCodes = []measure.Code{
	"rate_not_sent", "rate_not_carried", "rate_not_received", "requests_not_sent", "replies_fell_behind", "connections_not_opened",
}

func rateFindings(r *measure.Result) (found []string) {
	for _, code := range rateCodes {
		for _, f := range r.Findings.With(code) {
			found = append(found, strings.TrimSuffix(string(code)+" "+string(f.Where), " "))
		}
	}
	return found
}

// A path of 100 Mbit/s does not carry 150 Mbit/s, and no host sends a million requests a
// second. What a path and a host do reach gives no finding.
func TestARateThatWasNotReachedIsAFindingAndOnlyThat(t *testing.T) {
	l := network(t, `
hosts:
  client:
  server: {server: true}
routers:
  gateway:
links:
  - {from: client, to: gateway}
  - {from: gateway, to: server, rate: 100M, queue: 10ms}
`)
	for _, c := range []struct {
		flags string
		want  string // one of these, separated by |; empty: none
	}{
		{"udp -t 1s -b 150M -R", "rate_not_sent reverse|rate_not_received reverse"},
		{"udp -t 1s -b 20M -P 4 --burst 20", ""},
		{"tcp -t 1s -b 150M --direction bidirectional", "rate_not_carried forward,rate_not_carried reverse"},
		{"tcp -t 1s -b 20M -P 4", ""},
		{"tcp -n 4M -b 40M", ""},
		{"latency -t 1s --request-rate 1000000", "requests_not_sent client|replies_fell_behind"},
		{"latency -c 500 --request-rate 500 --arrivals poisson", ""},
		{"connect -t 500ms --request-rate 200000", "connections_not_opened client"},
		{"ping -t 500ms --spacing 10ms", ""},
	} {
		args := strings.Fields(c.flags)
		var r *measure.Result
		var got string
		found := false
		// Other work may slow this host down once, and then the finding is right.
		for range 3 {
			r = run(t, l, args[0], args[1:]...)
			got = strings.Join(rateFindings(r), ",")
			if found = slices.Contains(strings.Split(c.want, "|"), got); found {
				break
			}
		}
		if rate := float64(r.Options.Rate); !found && c.want == "" && r.Summary.GoodputBps < 0.98*rate {
			t.Logf("%s: this host was too slow: %.0f bit/s arrived, %q", c.flags, r.Summary.GoodputBps, got)
			continue // the finding is right
		}
		if !found {
			wrong(t, "%s: findings %q, want %q", c.flags, got, c.want)
		}
		if c.want != "" && r.Summary.Confidence == measure.High {
			t.Errorf("%s: the confidence is high", c.flags)
		}
	}
}

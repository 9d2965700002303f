package truth

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/text/messages"
)

// rateCodes are the findings about a rate that was not reached.
var rateCodes = []finding.Code{
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

// A path of 100 Mbit/s does not carry more, and no host sends a million requests a
// second. What a path and a host do reach gives no finding: those rates are low enough to be
// kept while other work delays the sender by more than a tenth of a second.
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
		{"udp -t 1s -b 2M -P 4 --burst 20", ""},
		{"tcp -t 1s -b 1G --direction bidirectional", "rate_not_carried forward,rate_not_carried reverse"},
		{"tcp -t 1s -b 400k -P 4", ""},
		{"tcp -n 25k -b 200k", ""},
		{"latency -t 1s --request-rate 1000000", "requests_not_sent client|replies_fell_behind"},
		{"latency -c 500 --request-rate 500 --arrivals poisson", ""},
		{"connect -t 500ms --request-rate 200000", "connections_not_opened client"},
		{"ping -t 500ms --spacing 10ms", ""},
	} {
		args := strings.Fields(c.flags)
		agrees(t, func() error {
			r := run(t, l, args[0], args[1:]...)
			if got := strings.Join(rateFindings(r), ","); !slices.Contains(strings.Split(c.want, "|"), got) {
				return fmt.Errorf("%s: findings %q, want %q (%s)", c.flags, got, c.want, messages.FormatRate(r.Summary.GoodputBps))
			}
			if c.want != "" && r.Summary.Confidence == measure.High {
				return fmt.Errorf("%s: the confidence is high", c.flags)
			}
			return nil
		})
	}
}

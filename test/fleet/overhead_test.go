package fleet

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"soku/internal/hub/campaigns"
	"soku/internal/store"
	"soku/internal/store/sqlite"
	"soku/test/freeport"
	"soku/test/tier"
)

// mostAdded is how much later the next trial may start because a hub has it run.
const mostAdded = 100 * time.Millisecond

// trialsOfOne is how many trials a campaign of this test has.
const trialsOfOne = 6

// measured is what one way to run trials has: the times from the start of a trial to that of the next, the goodput of
// trials in bit/s, and how long the command took without its trials.
type measured struct {
	steps   []time.Duration
	goodput []float64
	command []time.Duration
}

// The same trials run by hand, with soku run, and through the hub, in turn.
func TestATrialThroughTheHubIsAsOneByHand(t *testing.T) {
	tier.Asked(t, os.Getenv(campaignsAsked), "scale-trials")
	s := newSite(t)
	s.join("a", "b")
	port := freeport.One(t)
	server := start(t, nil, s.programs, "server", "--listen", fmt.Sprintf("127.0.0.1:%d", port), "--iperf3", "off", "--ethr", "off")
	server.await("listening on")
	byHub := s.planOf("endpoints: {one: {agent: a}, two: {agent: b}}\nfrom: one\n")
	byHand := s.planOf(fmt.Sprintf("endpoints: {two: {address: \"127.0.0.1:%d\"}}\n", port))
	var hub measured
	var hand [2]measured // in turn: what differs between the two is noise
	folder := filepath.Join(s.folder, "hand")
	for i := range campaignPairs(t) {
		began := time.Now()
		c := exec.CommandContext(t.Context(), s.programs, "run", byHand)
		c.Env = append(os.Environ(), "SOKU_DATA="+folder)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		hand[i%2].add(t, filepath.Join(folder, "soku.db"), "", time.Since(began))
		began = time.Now()
		var state campaigns.State
		s.must(&state, "run", byHub, "--json")
		hub.add(t, filepath.Join(s.folder, "hub", "soku.db"), state.Campaign, time.Since(began))
	}
	both := measured{append(hand[0].steps, hand[1].steps...), append(hand[0].goodput, hand[1].goodput...), append(hand[0].command, hand[1].command...)}
	added := median(hub.steps) - median(both.steps)
	t.Logf(`
| %d trials by hand and %[1]d through the hub, in turn | by hand | through the hub |
|---|---|---|
| from the start of a trial of 300 ms to that of the next, median | %.0f ms | %.0f ms |
| goodput, median | %.2f Gbit/s | %.2f Gbit/s |
| a campaign without its trials, median | %.0f ms | %.0f ms |

A trial through the hub adds %.0f ms. Goodput differs by %.1f %%; between trials by hand by %.1f %%.`, len(hub.goodput),
		ms(median(both.steps)), ms(median(hub.steps)), median(both.goodput)/1e9, median(hub.goodput)/1e9, ms(median(both.command)), ms(median(hub.command)),
		ms(added), apart(hub.goodput, both.goodput), apart(hand[0].goodput, hand[1].goodput))
	if added > mostAdded {
		t.Errorf("a trial through the hub adds %s", added)
	}
}

// planOf is a plan for the ends that the text says.
func (s *site) planOf(ends string) string {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "plan.yaml")
	text := fmt.Sprintf("campaign: overhead\nto: two\ntests: {up: {test: tcp, duration: 300ms}}\nrounds: %d\n%s", trialsOfOne, ends)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return file
}

// campaignsAsked is the variable with how many campaigns run each way.
const campaignsAsked = "SOKU_SCALE_CAMPAIGNS"

func campaignPairs(t *testing.T) int {
	n, err := strconv.Atoi(os.Getenv(campaignsAsked))
	if err != nil || n < 2 || n > 1000 {
		t.Fatalf("%s is %q", campaignsAsked, os.Getenv(campaignsAsked))
	}
	return n
}

// add adds the trials of a campaign, or of the newest one in the store, whose command took so long.
func (m *measured) add(t *testing.T, file, campaign string, took time.Duration) {
	t.Helper()
	st, err := sqlite.Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	page, err := st.List(t.Context(), store.Query{Campaign: campaign, Limit: trialsOfOne})
	if err != nil || len(page.Items) != trialsOfOne {
		t.Fatal(page, err)
	}
	slices.Reverse(page.Items)
	for i, e := range page.Items {
		if e.ErrorKind != "" {
			t.Fatal(e.Error)
		}
		m.goodput = append(m.goodput, e.Figures["goodput_bps"])
		if i > 0 {
			m.steps = append(m.steps, e.StartedAt.Sub(page.Items[i-1].StartedAt))
		}
	}
	m.command = append(m.command, took-page.Items[trialsOfOne-1].StartedAt.Sub(page.Items[0].StartedAt)-300*time.Millisecond)
}

func median[T time.Duration | float64](all []T) T {
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2]
}

// apart is the difference of medians in percent.
func apart(a, b []float64) float64 { return 100 * math.Abs(median(a)/median(b)-1) }

func ms(d time.Duration) float64 { return d.Seconds() * 1e3 }

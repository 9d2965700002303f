package fleet

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"soku/internal/hub/campaigns"
	"soku/internal/store"
	"soku/internal/store/sqlite"
	"soku/test/tier"
)

// Each agent measures to the next one, all at one instant.
func TestAgentsStartTogether(t *testing.T) {
	tier.SpendsSeconds(t)
	sizes, rounds := []int{3}, 2
	if os.Getenv("SOKU_SCALE") != "" {
		sizes, rounds = []int{2, 18}, 20
	}
	s := newSite(t)
	var names []string
	for i := range slices.Max(sizes) {
		names = append(names, fmt.Sprintf("host-%d", i))
	}
	s.join(names...)
	for _, n := range sizes {
		skews := s.startSkews(names[:n], rounds)
		if len(skews) != rounds {
			t.Fatalf("%d groups of %d: %v", len(skews), n, skews)
		}
		slices.Sort(skews)
		t.Logf("%d hosts start: from the first to the last %.2f ms (median), %.2f ms (90 %%), %.2f ms (most)", n,
			skews[rounds/2].Seconds()*1e3, skews[rounds*9/10].Seconds()*1e3, skews[rounds-1].Seconds()*1e3)
	}
}

// startSkews runs a campaign whose trials start together, and returns the time from the first start to the last of each group.
func (s *site) startSkews(names []string, rounds int) (skews []time.Duration) {
	s.t.Helper()
	var endpoints, pairs []string
	for i, n := range names {
		endpoints = append(endpoints, fmt.Sprintf("%s: {agent: %s}", n, n))
		pairs = append(pairs, fmt.Sprintf("[%s, %s]", n, names[(i+1)%len(names)]))
	}
	file := filepath.Join(s.folder, "plan.yaml")
	text := fmt.Sprintf("campaign: starts-%d\nendpoints: {%s}\npairs: {list: [%s]}\ncontention: together\ntests: {up: {test: tcp, duration: 200ms, rate: 1M}}\nrounds: %d\n",
		len(names), strings.Join(endpoints, ", "), strings.Join(pairs, ", "), rounds)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	var state campaigns.State
	s.must(&state, "run", file, "--json")
	if state.Done != len(names)*rounds || state.Error != nil {
		s.t.Errorf("%+v", state)
	}
	st, err := sqlite.Open(s.t.Context(), filepath.Join(s.folder, "hub", "soku.db"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer st.Close()
	last := map[string]time.Duration{}
	for r, err := range st.Results(s.t.Context(), store.Query{Campaign: state.Campaign}, store.Whole) {
		if err != nil {
			s.t.Fatal(err)
		}
		g := r.Trial.Group
		if r.Error != nil || g == nil || g.StartSkewNs == nil || *g.StartSkewNs > 0 && g.StartSkewErrorNs == 0 {
			s.t.Errorf("%s: group %+v, %v", r.ID, g, r.Error)
			continue
		}
		last[g.ID] = max(last[g.ID], time.Duration(*g.StartSkewNs))
	}
	for _, skew := range last {
		skews = append(skews, skew)
	}
	return skews
}

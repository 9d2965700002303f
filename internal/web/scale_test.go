package web_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"soku/internal/agent"
	"soku/internal/fleet"
	"soku/internal/hub"
	"soku/internal/hub/users"
	"soku/internal/store"
	"soku/test/tier"
)

// thousand are as many agents, with what agents usually report.
func thousand(now time.Time) (all []hub.Agent) {
	for i := range 1000 {
		all = append(all, hub.Agent{
			ID: fmt.Sprintf("UABCDEFGHIJK%044d", i), Name: fmt.Sprintf("vm%04d", i), State: hub.Connected, Heard: now,
			Labels: map[string]string{"zone": fmt.Sprint("zone-", i%3), "sku": fmt.Sprint("Standard_D", i%20), "rack": fmt.Sprint("r", i)},
			Hello:  fleet.Hello{Program: "1.4.0", Platform: "linux/amd64", Addresses: []fleet.Address{{Name: "eth0", Address: fmt.Sprintf("10.0.%d.%d", i/250, i%250)}}},
			Clock:  agent.Clock{Offset: time.Duration(i) * time.Microsecond, Uncertainty: 90 * time.Microsecond}, ClockAt: now,
		})
	}
	return all
}

var asset = regexp.MustCompile(`(?:href|src)="(/assets/[^"]+)"`)

// A page without data is small, whatever it needs besides included.
func TestAPageIsSmallBeforeItHasData(t *testing.T) {
	tier.SpendsSeconds(t)
	s := newSite(t)
	o := s.as(t, "o", users.Operator)
	started := o.submit("start", s.plan("t"))
	for _, path := range []string{"/", started.location} {
		page := o.get(path)
		size := len(page.body)
		for _, found := range asset.FindAllStringSubmatch(page.body, -1) {
			size += len(o.get(found[1]).body)
		}
		t.Logf("%s: %d bytes", path, size)
		if size >= 250_000 {
			t.Errorf("%s: %d bytes with its assets", path, size)
		}
	}
	close(s.pass)
}

// BenchmarkOverview is the answer of the first page of a hub with 1,000 agents, over TLS.
func BenchmarkOverview(b *testing.B) {
	s := newSite(b)
	s.agents.all = thousand(time.Now())
	o := s.as(b, "o", users.Operator)
	for b.Loop() {
		if page := o.get("/"); page.status != http.StatusOK {
			b.Fatalf("%+v", page)
		}
	}
}

// The first page of a hub with many campaigns that ended reads a page of them and no journal.
func TestTheOverviewOfManyCampaignsIsFast(t *testing.T) {
	tier.WatchesTheClock(t)
	s := newSite(t)
	for i := range 5000 {
		at := time.Unix(int64(1_700_000_000+i), 0)
		c := store.Campaign{ID: fmt.Sprintf("20260102-030405-c-%06x", i), Name: "c", StartedAt: at, Plan: strings.Repeat("# a plan\n", 200), Trials: 3, Done: i % 4, FinishedAt: at}
		if err := s.store.PutCampaign(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	o := s.as(t, "o", users.Operator)
	o.get("/").has(t, http.StatusOK, "Older campaigns")
	fastest := time.Hour
	for range 5 {
		begin := time.Now()
		o.get("/").has(t, http.StatusOK)
		fastest = min(fastest, time.Since(begin))
	}
	t.Log(fastest)
	if fastest >= 100*time.Millisecond {
		t.Errorf("the overview takes %s", fastest)
	}
}

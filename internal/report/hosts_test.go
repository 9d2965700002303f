package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/text"
)

func TestHostsThatChangeShowBothValues(t *testing.T) {
	in := fourPatterns().input()
	in.Results[3].Hosts.Client.Facts.MTU = 9000
	for _, h := range build(t, in).Hosts {
		for _, f := range h.Facts {
			if f.Key == "fact.mtu" && (h.Name == "office") != (len(f.Values) == 2) {
				t.Errorf("%s: MTU %v", h.Name, f.Values)
			}
		}
	}
}

func TestAHostShowsItsOwnLimitsWhereTheyAreKept(t *testing.T) {
	in := fourPatterns().input()
	for _, r := range in.Results {
		r.Hosts.Client.Floor = &measure.HostFloor{
			MeasuredAt: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
			RoundTrips: []measure.FloorRoundTrip{{RTT: measure.Percentiles{P50: 21_000}}, {RTT: measure.Percentiles{P50: 12_000}}},
			Goodput:    []measure.FloorGoodput{{GoodputBps: 20e9}, {GoodputBps: 41e9}},
			Packets:    []measure.FloorPackets{{PacketsPerSecond: 412_345}},
		}
	}
	found := map[string][]string{}
	for _, h := range build(t, in).Hosts {
		for _, f := range h.Facts {
			if f.Key == "fact.own_limits" {
				found[h.Name] = factValues(text.English(), f)
			}
		}
	}
	want := []string{"41.00 Gbit/s, 412k packets/s, 12.00 µs round trip, on 2026-03-01"}
	if len(found) != 1 || !slices.Equal(found["office"], want) {
		t.Errorf("%v, want %v for the client only", found, want)
	}
}

func TestTheHeadNamesTheHostsAndTheirZones(t *testing.T) {
	for name, c := range map[string]struct {
		hosts int
		zones []string
		want  string
	}{
		"two":            {2, []string{"europe-1", "europe-2"}, ", between host-1 and host-2 (europe-1 and europe-2), 2026"},
		"one zone":       {3, []string{"europe-1"}, ", 3 hosts (europe-1), 2026"},
		"many zones":     {6, []string{"a-1", "a-2", "a-3", "a-4", "a-5"}, ", 6 hosts, 2026"},
		"no cloud":       {2, nil, ", between host-1 and host-2, 2026"},
		"this host only": {1, nil, ", on host-1, 2026"},
	} {
		in := fourPatterns().input()
		end := func(i int) (measure.Endpoint, *measure.Host) {
			i %= c.hosts
			h := &measure.Host{Facts: measure.Facts{Hostname: fmt.Sprintf("host-%d", i+1)}}
			if len(c.zones) > 0 {
				h.Facts.Cloud = &measure.Cloud{Provider: "gcp", Zone: c.zones[i%len(c.zones)]}
			}
			return measure.Endpoint{Name: h.Facts.Hostname}, h
		}
		for i, r := range in.Results {
			r.Path.Client, r.Hosts.Client = end(i)
			r.Path.Server, r.Hosts.Server = end(i + 1)
		}
		if said := (reportView{build(t, in), text.English()}).subtitle(); !strings.Contains(said, c.want) {
			t.Errorf("%s: %q", name, said)
		}
	}
}

func TestHostsHaveWhatTheyShareOnceAndTheirDifferencesSideBySide(t *testing.T) {
	fact := func(key, value string) Fact { return Fact{Key: "fact." + key, Values: []text.Line{plain(value)}} }
	hosts := []Host{
		{Name: "a", Roles: []string{"client"}, Facts: []Fact{fact("kernel", "6.1"), fact("instance", "large")}},
		{Name: "b", Roles: []string{"server"}, Facts: []Fact{fact("kernel", "6.1"), fact("instance", "small"), fact("virtualization", "kvm")}},
	}
	tables := hostTables(hosts, text.English())
	if len(tables) != 2 {
		t.Fatalf("%d tables", len(tables))
	}
	if got := texts(tables[0]); len(got) != 1 || !slices.Equal(got[0], []string{"kernel", "6.1"}) {
		t.Errorf("%q", got)
	}
	if got := texts(tables[1]); len(got) != 3 || !slices.Equal(got[1], []string{"instance", "large", "small"}) || !slices.Equal(got[2], []string{"virtualization", text.Absent, "kvm"}) {
		t.Errorf("%q", got)
	}
	if one := hostTables(hosts[:1], text.English()); len(one) != 1 || len(one[0].Rows) != 3 {
		t.Errorf("one host: %d tables", len(one))
	}
}

package ingest

import (
	"fmt"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// A server keeps one set of counters for each client and protocol, whatever test it runs. The
// figures here are those of the file, by hand.
func TestAServersSecondsOfEthrAreToldApartByTheirFigures(t *testing.T) {
	type test struct {
		label  string
		figure float64 // bit/s, connections/s, or the mean round trip in ns
	}
	for file, want := range map[string][]test{
		// The first second counts the connections of the other two threads.
		"ethr-server-threads.log": {{"tcp", (12.6e9 + 18.9e9 + 17.1e9) / 3}},
		"ethr-server-latency.log": {{"latency", (67706. + 56288 + 137712 + 80339) / 4}},
		"ethr-server-latency.txt": {{"latency", (56288. + 56288 + 80339) / 3}},
		// The last second of each is partial: 1.5G and 1.8G.
		"ethr-server-udp-twice.log": {{"udp", (9e9 + 7.9e9) / 2}, {"udp", (7.8e9 + 8.8e9) / 2}},
		"ethr-server-tests.log": {
			{"tcp", (4.9e9 + 10.1e9) / 2}, {"connect", (9700. + 4400 + 473) / 3}, {"latency", (55208. + 53881 + 41007) / 3}, {"connect", 1},
			{"udp", (7.4e9 + 2.3e9) / 2}, {"udp", (920.5e3 + 477.6e3) / 2}, {"tcp", (10.7e9 + 11.3e9) / 2},
		},
		"ethr-server-clients.log": {
			{"tcp", (400e6 + 400e6 + 399.3e6) / 3}, {"tcp", (95.5e6 + 100e6 + 99.8e6) / 3}, {"latency", (204812. + 66828 + 46346 + 48743) / 4}, {"tcp", (400e6 + 399.7e6 + 400e6) / 3},
		},
	} {
		var got []test
		for _, r := range sample(t, file) {
			v := test{r.Trial.Label, r.Summary.GoodputBps + r.Summary.ConnectionsPerSecond}
			if f := r.Summary.ReportedRTT; f != nil {
				v.figure = *f.Mean
			}
			got = append(got, v)
			if r.Test == measure.TestUDP && len(r.Findings.With(finding.TestsUnmarked)) != 1 {
				t.Errorf("%s: does not say that UDP tests are not marked", file)
			}
		}
		same := len(got) == len(want)
		for i := range min(len(got), len(want)) {
			same = same && got[i].label == want[i].label && close2(got[i].figure, want[i].figure)
		}
		if !same {
			t.Errorf("%s: %v\nwant %v", file, got, want)
		}
	}
}

// In the second before its bytes, a test only opened its connections.
func TestConnectionsOfATestsOwnThreadsAreNoTest(t *testing.T) {
	second := func(at int, bits, conns string) string {
		return fmt.Sprintf(`{"Time":"2026-01-01T00:00:%02dZ","Title":"","Type":"TestResult","RemoteAddr":"10.0.0.1","Protocol":"TCP","BitsPerSecond":"%s","ConnectionsPerSecond":"%s","PacketsPerSecond":"--  ","AverageLatency":"--  "}`+"\n", at, bits, conns)
	}
	rows := `{"Time":"2026-01-01T00:00:02Z","Type":"LatencyResult","RemoteAddr":"10.0.0.1","Protocol":"TCP","Avg":"5us","Min":"1us","P50":"5us","P90":"6us","P95":"7us","P99":"8us","P999":"9us","P9999":"9us","Max":"9us"}` + "\n"
	for name, c := range map[string]struct {
		log    string
		labels string
	}{
		"threads before rows":    {second(1, "0", "1") + rows, "latency"},
		"threads before bytes":   {second(1, "0", "8") + second(2, "2G", "0") + second(3, "2G", "0"), "tcp"},
		"connections, then more": {second(1, "0", "9K") + second(2, "2G", "0"), "connect tcp"},
		"connections twice":      {second(1, "0", "8") + second(2, "0", "9") + second(3, "2G", "0"), "connect tcp"},
		"tests without a pause":  {second(1, "2G", "3") + second(2, "2G", "0") + second(3, "1G", "3") + second(4, "1G", "0"), "tcp tcp"},
	} {
		results, err := read(t, Auto, c.log)
		var labels []string
		for _, r := range results {
			labels = append(labels, r.Trial.Label)
		}
		if got := strings.Join(labels, " "); err != nil || got != c.labels {
			t.Errorf("%s: %q %v, want %q", name, got, err, c.labels)
		}
	}
}

// A server that runs out of descriptors writes a line for each connection that it refuses.
func TestALongLogOfEthrIsRead(t *testing.T) {
	log := text(t, "ethr-server-threads.log")
	refusal := `{"Time":"2026-11-25T10:02:50Z","Type":"ERROR","Message":"accept4: too many open files"}` + "\n"
	results, err := read(t, Auto, log+strings.Repeat(refusal, 300_000)+log)
	if err != nil || len(results) != 2 {
		t.Errorf("%d results, %v", len(results), err)
	}
}

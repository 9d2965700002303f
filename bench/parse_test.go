package main

import (
	"os"
	"path/filepath"
	"testing"
)

// parsers has every parser with a recorded output of its program, and the figures in that
// output.
var parsers = []struct {
	file   string
	parse  func(string, string) (Figures, error)
	server bool
	want   Figures
}{
	{"soku-tcp.json", parseSoku, false, Figures{goodput.Name: 2834432000 * 8.0 / 1000831181}},
	{"soku-udp.json", parseSoku, false, Figures{goodput.Name: 124863200 * 8.0 / 999740267, packetRate.Name: 89188 / 0.999740267, lossRatio.Name: 0}},
	{"soku-latency.json", parseSoku, false, Figures{p50.Name: 12.263, p99.Name: 49.855, p999.Name: 95.167}},
	{"soku-open.json", parseSoku, false, Figures{lateP50.Name: 0.208, lateP99.Name: 1.628, lateP999.Name: 4.679, p50.Name: 23.855}},
	{"soku-copy.json", parseCopy, false, Figures{copyRate.Name: 500e6 * 1e3 / 4222699390}},
	{"soku-copy.json", parseSoku, false, Figures{goodput.Name: 500e6 * 8 / 4222699390}},
	{"limit-open.txt", parseLimit, false, Figures{lateP50.Name: 0.172, lateP99.Name: 8.869, lateP999.Name: 1042.715}},
	{"iperf3-tcp.json", parseIperf3, false, Figures{goodput.Name: 75.0688470853326}},
	{"iperf3-bidir.json", parseIperf3, false, Figures{goodput.Name: 43.6618396300337 + 34.71176434113479}},
	{"iperf3-udp.json", parseIperf3, false, Figures{packetRate.Name: (300822 - 5522) / 1.002003, lossRatio.Name: 1.8356370212285005}},
	{"iperf2.txt", parseIperf2, false, Figures{goodput.Name: 39.045658325 + 41.362110905}},
	{"nuttcp.txt", parseNuttcp, false, Figures{goodput.Name: 15.4961841}},
	{"neper-stream.txt", parseNeper, false, Figures{goodput.Name: 17.461997926}},
	{"neper-rr.txt", parseNeper, false, Figures{p50.Name: 44564.470, p99.Name: 48496.630, p999.Name: 48496.630}},
	{"netperf-stream.txt", parseNetperf(goodput.Name), false, Figures{goodput.Name: 22.63342}},
	{"netperf-rr.txt", parseNetperf(p50.Name, p99.Name), false, Figures{p50.Name: 66, p99.Name: 129}},
	{"netperf-crr.txt", parseNetperf(connectionRate.Name), false, Figures{connectionRate.Name: 10914.269}},
	{"qperf.txt", parseQperf, false, Figures{mean.Name: 65.2}},
	{"irtt.txt", parseIrtt, false, Figures{mean.Name: 68, p50.Name: 65.4}},
	{"ntttcp-r.txt", parseNtttcp, true, Figures{goodput.Name: 34.59}},
	{"ethr-c.txt", parseEthr(connectionRate), false, Figures{connectionRate.Name: 12050}},
	{"ethr-b.txt", parseEthr(goodput), false, Figures{goodput.Name: 18.1}},
	{"sockperf.txt", parseSockperf, false, Figures{p50.Name: 64.956, p99.Name: 116.262, p999.Name: 183.692}},
}

func TestFiguresAreReadFromRecordedOutput(t *testing.T) {
	for _, c := range parsers {
		t.Run(c.file, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata", c.file))
			if err != nil {
				t.Fatal(err)
			}
			client, server := string(text), ""
			if c.server {
				client, server = "", string(text)
			}
			got, err := c.parse(client, server)
			if err != nil {
				t.Fatal(err)
			}
			for name, want := range c.want {
				if diff := got[name] - want; diff > 1e-6*want || -diff > 1e-6*want {
					t.Errorf("%s: got %v, want %v", name, got[name], want)
				}
			}
		})
	}
}

func TestReferenceFiguresComeFromTheCountingEnd(t *testing.T) {
	got, err := parseLimit("packets=999\n", "ready\nbytes=1000000000 ns=1000000000\n")
	if err != nil || got[goodput.Name] != 8 {
		t.Fatalf("got %v, %v; want 8 Gbit/s", got, err)
	}
}

func TestOutputWithoutFigureIsAnError(t *testing.T) {
	for _, c := range parsers {
		for _, text := range []string{"", "connection refused\n", "{}"} {
			if f, err := c.parse(text, text); err == nil {
				t.Errorf("%s: %q gave %v", c.file, text, f)
			}
		}
	}
}

func FuzzParsers(f *testing.F) {
	for _, c := range parsers {
		if text, err := os.ReadFile(filepath.Join("testdata", c.file)); err == nil {
			f.Add(string(text))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range append(parsers[:len(parsers):len(parsers)], parsers[0]) {
			got, err := c.parse(text, text)
			if err == nil && len(got) == 0 {
				t.Fatalf("%s: neither a figure nor an error", c.file)
			}
			for name, v := range got {
				if v < 0 || v != v {
					t.Fatalf("%s: %s is %v", c.file, name, v)
				}
			}
		}
		if _, err := parseSockperf(text, ""); err == nil && text == "" {
			t.Fatal("a figure from nothing")
		}
	})
}

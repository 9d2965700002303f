package ingest

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
)

// fuzzDecoder fuzzes a decoder with the samples whose names begin with one of the prefixes. An
// accepted file must yield results that can be written, read and reported; a refused file
// must be an error of kind file.
func fuzzDecoder(f *testing.F, format string, prefixes ...string) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		for _, p := range prefixes {
			if !strings.HasPrefix(filepath.Base(file), p) {
				continue
			}
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			if len(data) < 12<<10 {
				f.Add(data)
			}
		}
	}
	q := &Request{Campaign: "x", Format: format, Version: "fuzz", Now: fileTime}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := NewSource("f", data, fileTime)
		if err != nil {
			fileError(t, err)
			return
		}
		results, err := q.Read(s)
		if err != nil {
			fileError(t, err)
			return
		}
		if len(results) == 0 {
			t.Fatal("neither results nor an error")
		}
		for _, r := range results {
			holds(t, r)
		}
	})
}

func fileError(t *testing.T, err error) {
	t.Helper()
	var e *measure.Error
	if !errors.As(err, &e) || e.Kind != measure.KindFile || !strings.HasPrefix(e.Message, "f:") && !strings.HasPrefix(e.Message, "m.yaml:") {
		t.Fatalf("an error that names no place: %v", err)
	}
	if len(e.Message) > 2000 {
		t.Fatalf("an error of %d characters", len(e.Message))
	}
}

// holds checks the invariants of every result.
func holds(t *testing.T, r *measure.Result) {
	t.Helper()
	s := r.Summary
	figures := []float64{s.GoodputBps, s.PacketsPerSecond, s.ConnectionsPerSecond, float64(s.DurationNs), float64(s.SentBytes), float64(s.ReceivedBytes), float64(s.PacketsLost)}
	for _, p := range []*float64{s.LossRatio, s.JitterNs, s.CPUSecPerGB} {
		if p != nil {
			figures = append(figures, *p)
		}
	}
	if f := s.ReportedRTT; f != nil {
		for _, p := range []*float64{f.Min, f.Mean, f.P50, f.P90, f.P95, f.P99, f.P999, f.P9999, f.Max, f.StdDev} {
			if p != nil {
				figures = append(figures, *p)
			}
		}
	}
	for _, v := range figures {
		if v < 0 || math.IsNaN(v) || math.IsInf(v, 0) {
			t.Fatalf("a figure of %v: %+v", v, s)
		}
	}
	if s.LossRatio != nil && *s.LossRatio > 1 {
		t.Fatalf("a loss of %v", *s.LossRatio)
	}
	if s.RTT != nil && (r.Latency == nil || r.Latency.Histogram == nil) {
		t.Fatal("percentiles of a histogram that is not there")
	}
	if r.Origin == nil || r.Origin.Line < 1 || r.Trial == nil || r.Trial.Label == "" || r.StartedAt.IsZero() {
		t.Fatalf("no place in file or campaign: %+v %+v", r.Origin, r.Trial)
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, new(measure.Result)); err != nil {
		t.Fatal(err)
	}
}

func FuzzIperf3(f *testing.F)    { fuzzDecoder(f, "iperf3", "iperf3-") }
func FuzzIperf2(f *testing.F)    { fuzzDecoder(f, "iperf2", "iperf2-client", "iperf2-server") }
func FuzzIperf2CSV(f *testing.F) { fuzzDecoder(f, "iperf2-csv", "iperf2-tcp", "iperf2-udp") }
func FuzzNtttcp(f *testing.F)    { fuzzDecoder(f, "ntttcp", "ntttcp-") }
func FuzzEthr(f *testing.F)      { fuzzDecoder(f, "ethr", "ethr-") }
func FuzzPing(f *testing.F)      { fuzzDecoder(f, "ping", "ping", "test-connection") }
func FuzzSockperf(f *testing.F) {
	log := sampleBytes(f, "sockperf-full-log.csv")
	f.Add([]byte(strings.Replace(string(log[:2000]), "ReceivedMessages=475", "ReceivedMessages=3", 1))) // the whole is long
	fuzzDecoder(f, "sockperf", "sockperf-")
}
func FuzzFping(f *testing.F)    { fuzzDecoder(f, "fping", "fping-") }
func FuzzNuttcp(f *testing.F)   { fuzzDecoder(f, "nuttcp", "nuttcp-") }
func FuzzMtr(f *testing.F)      { fuzzDecoder(f, "mtr", "mtr") }
func FuzzLatte(f *testing.F)    { fuzzDecoder(f, "latte", "latte") }
func FuzzPsping(f *testing.F)   { fuzzDecoder(f, "psping", "psping-") }
func FuzzLagscope(f *testing.F) { fuzzDecoder(f, "lagscope", "lagscope") }
func FuzzCps(f *testing.F)      { fuzzDecoder(f, "cps", "cps-") }
func FuzzNetperf(f *testing.F)  { fuzzDecoder(f, "netperf", "netperf-") }

// FuzzAuto detects the format.
func FuzzAuto(f *testing.F) {
	for _, text := range []string{
		"2026-11-27T02:11:58Z PING a\n2026-11-27T02:11:59Z 1 packets transmitted, 0 received, 100% packet loss\n", "[{\"start\": 1},\nnote\n{\"event\": \"end\"}] x {\"a\": \"\"}",
		"[pod/a/b] Client connecting to a, TCP port 5001\n[pod/a/b] connect failed: Connection refused\n", "Ping wird ausgeführt\nAntwort von 10.0.0.1\n",
	} {
		f.Add([]byte(text))
	}
	fuzzDecoder(f, Auto, "iperf3-3.1-", "iperf3-warning", "iperf3-twice", "iperf2-loop", "fping-stdout", "ping-linux-de", "ping-w", "ethr-c", "iperf2-udp", "ntttcp-r.", "sockperf-ul", "netperf-tcp")
}

// FuzzEnds takes two files for both ends of a run. The results must be valid, and no file's
// result may be lost.
func FuzzEnds(f *testing.F) {
	for _, pair := range [][2]string{
		{"ntttcp-s.xml", "ntttcp-r.xml"}, {"ethr-pair-client.log", "ethr-pair-server.log"}, {"ethr-c.txt", "ethr-c.log"}, {"iperf3-3.1-tcp.json", "iperf3-3.1-udp.json"},
		{"iperf3-3.12-udp.json", "iperf3-3.12-udp-reverse.json"},
	} {
		a, b := sampleBytes(f, pair[0]), sampleBytes(f, pair[1])
		f.Add(a, b)
	}
	pattern, err := ParsePathPattern("run-{end}")
	if err != nil {
		f.Fatal(err)
	}
	q := &Request{Campaign: "x", Format: Auto, Version: "fuzz", Now: fileTime, Path: pattern}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		ends, held := NewEnds(q.Path), 0
		for i, data := range [][]byte{a, b} {
			s, err := NewSource([]string{"run-1", "run-2"}[i], data, fileTime)
			if err != nil {
				continue
			}
			results, err := q.Read(s)
			if err != nil {
				continue
			}
			for _, r := range results {
				if ends.Hold(r) {
					held++
				}
			}
		}
		for _, j := range ends.Join() {
			if held--; j.Other != nil {
				held--
			}
			if (j.Result == nil) == (j.Err == nil) {
				t.Fatalf("%+v", j)
			}
			if j.Result != nil {
				holds(t, j.Result)
			}
		}
		if held != 0 {
			t.Fatalf("%d results are lost", held)
		}
	})
}

func sampleBytes(f *testing.F, name string) []byte {
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		f.Fatal(err)
	}
	return data
}

const fuzzMapping = `
factors: {a: {column: a}}
results:
  - test: tcp
    options: {streams: {column: n}}
    figures: {goodput: {column: x, unit: Mbit/s}}
  - test: latency
    figures: {mean: {low: y, high: z, unit: ms}, p50: {column: x, unit: us}}
  - test: tcp
    figures: {bytes: {column: x, unit: GB}, duration: {column: d, unit: "m:s"}}
  - test: udp
    figures: {packets_per_second: {column: x}, loss: {column: y, unit: "%"}}
`

func FuzzTable(f *testing.F) {
	f.Add([]byte("a,n,x,y,z,d\nsku,4,1.5,2,3,4:25\n,,,,,\nb,1,3,,,1:02:03\n"))
	f.Add([]byte("a,n,x,y,z,d\n\"q\"\"uote\",1,1e3,0,0,0:00\n"))
	m, err := ParseMapping("m.yaml", []byte(fuzzMapping))
	if err != nil {
		f.Fatal(err)
	}
	q := &Request{Campaign: "x", Format: "csv", Mapping: m, Now: fileTime}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := NewSource("f", data, fileTime)
		if err != nil {
			fileError(t, err)
			return
		}
		results, err := q.Read(s)
		if err != nil {
			fileError(t, err)
			return
		}
		for _, r := range results {
			holds(t, r)
		}
	})
}

func FuzzMapping(f *testing.F) {
	f.Add([]byte(fuzzMapping))
	for _, text := range mappingsOfCases(f) {
		f.Add(text)
	}
	f.Add([]byte("round: {column: a}\nrepeat: {value: 2}\nsession: {column: c}\nresults: [{test: tcp, figures: {goodput: {column: b, unit: bit/s}}}]"))
	f.Add([]byte("path: '{sku}/{zone}/run{repeat}.json'\nstarted: 2021-05-30\nlacks: [x]\n"))
	f.Add([]byte("results: [{test: tcp, figures: {goodput: {column: x, unit: furlong}}}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseMapping("m.yaml", data)
		if err != nil {
			fileError(t, err)
			return
		}
		s, err := NewSource("f", []byte("a,b,c\n1,2,3\n"), time.Unix(1, 0))
		if err != nil {
			t.Fatal(err)
		}
		results, err := (&Request{Campaign: "x", Format: "csv", Mapping: m, Now: fileTime}).Read(s)
		if err == nil {
			for _, r := range results {
				holds(t, r)
			}
		}
	})
}

func FuzzPathPattern(f *testing.F) {
	f.Add("{sku}/{zone}/run{repeat}.json", "out/VpnGw1/2/run3.json")
	f.Add("*/{a}", `c:\x\y`)
	f.Add("{sku}/run{repeat}-{end}.xml", "out/a/run3-s.xml")
	f.Fuzz(func(t *testing.T, pattern, path string) {
		p, err := ParsePathPattern(pattern)
		if err != nil {
			if measure.KindOf(err) != measure.KindUsage {
				t.Fatal(err)
			}
			return
		}
		levels, round, ok := p.Match(path)
		if ok && (round < 0 || len(levels) > len(p.names)) {
			t.Fatalf("%v %d", levels, round)
		}
		if rest, found := p.withoutEnd(path); found != (p.hasEnd && p.whole.MatchString(strings.ReplaceAll(path, `\`, "/"))) || found && !strings.Contains(rest, "{end}") {
			t.Fatalf("%q of %q: %q %v", pattern, path, rest, found)
		}
	})
}

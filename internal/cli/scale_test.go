package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/store"
)

// Benchmarks of large stores, of documents that real trials of 10 s left:
//
//	go test ./internal/cli -run '^$' -bench Large -benchtime 3x
//
// They report MB, the most memory that the process had.

// measured is the document of a real trial over loopback.
func measured(b *testing.B, address string, args ...string) []byte {
	b.Helper()
	sys, out, errs := fakeSystem(b, append(append([]string{args[0], address, "--json"}, args[1:]...), "-t", "10")...)
	if code := Run(sys); code != 0 {
		b.Fatalf("%v: status %d, %s", args, code, errs)
	}
	return out.Bytes()
}

// largeStore is a system whose store has a campaign of that many results in rounds: patterns of
// two factors, each with the tests of the documents.
func largeStore(b *testing.B, results int, documents ...[]byte) *System {
	b.Helper()
	sys, _, _ := fakeSystem(b)
	st, err := openStore(b.Context(), sys, "")
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	const skus, zones = 10, 5
	random := rand.New(rand.NewPCG(1, 2))
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := store.Campaign{ID: "20260102-030405-large-000000", Name: "large", StartedAt: start, FinishedAt: start.Add(time.Hour), Patterns: skus * zones, Trials: results, Done: results, Seed: 1}
	if err := st.PutCampaign(b.Context(), c); err != nil {
		b.Fatal(err)
	}
	var pending []*measure.Result
	for i := range results {
		r := new(measure.Result)
		if err := json.Unmarshal(documents[i%len(documents)], r); err != nil {
			b.Fatal(err)
		}
		n := i / len(documents)
		sku, zone, round := n%skus, n/skus%zones, n/skus/zones+1
		r.ID, r.StartedAt = fmt.Sprintf("%012x%08x", i*1000, random.Uint32()), start.Add(time.Duration(i)*11*time.Second)
		r.Trial = &measure.Trial{
			Campaign: c.ID, Name: c.Name, Label: string(r.Test), Round: round, Repeat: 1, Order: n%(skus*zones) + 1, Seed: 1,
			Levels: []measure.Level{{Factor: "sku", Value: fmt.Sprintf("sku%d", sku)}, {Factor: "zone", Value: fmt.Sprint(zone)}},
		}
		r.Trial.Pattern = measure.JoinLevels(r.Trial.Levels)
		faster := (1 + float64(sku)/20) * (1 + 0.01*random.NormFloat64())
		r.Summary.GoodputBps *= faster
		for f := range r.Flows {
			r.Flows[f].Summary.GoodputBps *= faster
			for s := range r.Flows[f].Samples {
				r.Flows[f].Samples[s].ReceivedBytes = int64(float64(r.Flows[f].Samples[s].ReceivedBytes) * faster)
			}
		}
		if pending = append(pending, r); len(pending) == 50 || i == results-1 {
			if err := st.Put(b.Context(), pending...); err != nil {
				b.Fatal(err)
			}
			pending = nil
		}
	}
	return sys
}

// commandOf runs a command of a system again and again.
func commandOf(b *testing.B, sys *System, args ...string) {
	runtime.GC()
	sys.Args, sys.Stdout = args, io.Discard
	for b.Loop() {
		if code := Run(sys); code != 0 {
			b.Fatalf("%v: status %d, %s", args, code, sys.Stderr)
		}
	}
	b.ReportMetric(mostMemory(b), "MB")
}

// mostMemory is the most memory that the process had, in MB, where the system tells.
func mostMemory(b *testing.B) float64 {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		var kib float64
		if n, _ := fmt.Sscanf(line, "VmHWM: %f kB", &kib); n == 1 {
			return kib / 1000
		}
	}
	b.Log("the most memory is unknown")
	return 0
}

func BenchmarkLargeReport(b *testing.B) {
	address := startServer(b, nil)
	sys := largeStore(b, 10_000, measured(b, address, "tcp"), measured(b, address, "latency"))
	for _, format := range []string{"txt", "json", "html", "csv", "trials.csv"} {
		b.Run(format, func(b *testing.B) { commandOf(b, sys, "report", "--format", format) })
	}
}

func BenchmarkLargeList(b *testing.B) {
	sys := largeStore(b, 100_000, []byte(`{"schema":"soku.result/1","tool":{"name":"soku","version":"1"},"test":"tcp",
		"path":{"client":{"name":"vm1"},"server":{"name":"vm2","address":"10.0.0.4"},"direction":"forward"},"options":{"streams":4},
		"summary":{"goodput_bps":1e9,"duration_ns":10000000000},"hosts":{}}`))
	if info, err := os.Stat(filepath.Join(sys.DataDir, "soku.db")); err == nil {
		b.Logf("the store has %d MB", info.Size()/1e6)
	}
	for name, args := range map[string]string{
		"last": "", "level": "--level sku=sku3 --level zone=2", "test": "--test tcp", "endpoint": "--endpoint vm2", "since": "--since 2026-01-03",
		"json": "--json", "campaigns": "--campaigns", "before": "--before 000000186a00",
	} {
		b.Run(name, func(b *testing.B) { commandOf(b, sys, append([]string{"ls"}, strings.Fields(args)...)...) })
	}
}

// Package truth compares what soku measures with networks whose truth is known: emulated
// networks in network namespaces, with a cap or a delay that the kernel or the delay line
// enforces.
package truth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"soku/internal/lab"
	"soku/internal/measure"
	"soku/internal/text/messages"
	"soku/test/built"
	"soku/test/tier"
)

func TestMain(m *testing.M) { built.Main(m) }

// needNetworks skips the test if emulated networks are not available, and in the tiers
// without timing-sensitive tests.
func needNetworks(t *testing.T) {
	t.Helper()
	tier.WatchesTheClock(t)
	if runtime.GOOS != "linux" {
		t.Skip("emulated networks need Linux, this is " + runtime.GOOS)
	}
	tier.NeedsRoot(t, "emulated networks")
}

// network builds a topology until the test ends, under a name that no other test run uses:
// one that was killed has left its namespaces.
func network(t *testing.T, topology string) *lab.Lab {
	t.Helper()
	needNetworks(t)
	file := filepath.Join(t.TempDir(), "topology.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, "lab: truth-%08x\n%s", rand.Uint32(), topology), 0o644); err != nil {
		t.Fatal(err)
	}
	topo, err := lab.Load(file, os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	l, err := lab.Up(t.Context(), topo, lab.Options{Executable: built.Program(t), RunDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := l.Down(ctx); err != nil {
			t.Error(err)
		}
	})
	return l
}

// run measures from the host named client to the address of server.
func run(t *testing.T, l *lab.Lab, test string, flags ...string) *measure.Result {
	t.Helper()
	addr, err := l.Topology.Address("server", "")
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{built.Program(t), test, addr.String(), "--json", "--no-save"}, flags...)
	cmd := l.Command(t.Context(), "client", args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v %s", args, err, errs.String())
	}
	var r measure.Result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// Every cap counts a shaper's frames; TCP goodput is the share of payload in it: 1448 of
// 1514 bytes at an MTU of 1500.
func TestGoodputIsWithinOnePercentOfTheCap(t *testing.T) {
	for _, rate := range []string{"50M", "200M", "1G", "5G"} {
		t.Run(rate, func(t *testing.T) {
			if strings.HasSuffix(rate, "M") {
				t.Parallel() // most of the processors' time is free
			}
			l := network(t, strings.ReplaceAll(`
hosts:
  client:
  server: {server: true}
routers:
  gateway:
links:
  - {from: client, to: gateway, rate: RATE}
  - {from: gateway, to: server}
`, "RATE", rate))
			truth, err := l.Topology.Truth("client", "server", "")
			if err != nil {
				t.Fatal(err)
			}
			want := float64(truth.GoodputBps)
			for _, direction := range []string{"forward", "reverse"} {
				t.Run(direction, func(t *testing.T) {
					agrees(t, func() error {
						var got []float64
						for range 3 {
							r := run(t, l, "tcp", "-t", "2s", "-C", "cubic", "--direction", direction)
							got = append(got, r.Summary.GoodputBps)
						}
						m := median(got)
						off := (m - want) / want * 100
						t.Logf("%s of %s (%+.2f %%)", messages.FormatRate(m), messages.FormatRate(want), off)
						if math.Abs(off) > 1 {
							return fmt.Errorf("median %s, want %s within 1 %% (%+.2f %%); all: %.0f", messages.FormatRate(m), messages.FormatRate(want), off, got)
						}
						return nil
					})
				})
			}
		})
	}
}

func TestMedianRoundTripIsWithinFivePercentOfTheDelay(t *testing.T) {
	for _, c := range []struct {
		oneWay string
		trials int // the floor varies by some microseconds: 5 % of a short delay are not much more
	}{{"0.25ms", 9}, {"1ms", 5}, {"5ms", 3}} {
		t.Run(c.oneWay, func(t *testing.T) {
			if c.trials == 3 {
				t.Parallel() // 5 % of this delay are a multiple of what other work adds
			}
			l := network(t, strings.ReplaceAll(`
hosts:
  client:
  server: {server: true}
links:
  - {from: client, to: server, delay: DELAY}
`, "DELAY", c.oneWay))
			truth, err := l.Topology.Truth("client", "server", "")
			if err != nil {
				t.Fatal(err)
			}
			// With 10 ms between requests the processors sleep, and the emulated link itself takes 60 µs
			// more for a round trip, for the ping of the system, too.
			for _, test := range [][]string{{"latency"}, {"latency", "--protocol", "udp"}, {"ping", "--spacing", "1ms"}} {
				t.Run(strings.Join(test, " "), func(t *testing.T) {
					agrees(t, func() error {
						var got, floors []float64
						for range c.trials {
							r := run(t, l, test[0], append([]string{"-t", "500ms"}, test[1:]...)...)
							got = append(got, r.Summary.RTT.P50)
							floors = append(floors, *r.Summary.FloorNs)
						}
						m, want, floor := median(got), float64(truth.RTTNs), median(floors)
						t.Logf("median %s, truth %s, floor %s",
							messages.FormatLatency(m), messages.FormatLatency(want), messages.FormatLatency(floor))
						if m < want*0.95 || m > want*1.05+floor {
							return fmt.Errorf("median %s is not within 5 %% of %s plus the floor of %s",
								messages.FormatLatency(m), messages.FormatLatency(want), messages.FormatLatency(floor))
						}
						return nil
					})
				})
			}
		})
	}
}

// The delay of a link must be in neither host's part, whatever its way of waiting. One
// processor may run both ends and the delay line, so the hosts' parts are only required to
// be far below the delay.
func TestStampsSplitAssignsADelayToThePath(t *testing.T) {
	l := network(t, `
hosts:
  client:
  server: {server: true}
links:
  - {from: client, to: server, delay: 5ms}
`)
	truth, err := l.Topology.Truth("client", "server", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, protocol := range []string{"tcp", "udp"} {
		for _, spin := range []string{"off", "on"} {
			t.Run(protocol+", spin "+spin, func(t *testing.T) {
				agrees(t, func() error {
					r := run(t, l, "latency", "-t", "700ms", "--protocol", protocol, "--spin="+spin, "--stamps", "split")
					s := r.Latency.Split
					if s == nil {
						return fmt.Errorf("no split: %+v", r.Findings)
					}
					t.Logf("host %s + path %s + far host %s + host %s, %d not split", messages.FormatLatency(s.HostSendNs.P50),
						messages.FormatLatency(s.PathNs.P50), messages.FormatLatency(s.FarHostNs.P50), messages.FormatLatency(s.HostReceiveNs.P50), s.Unsplit)
					want := float64(truth.RTTNs)
					sum := s.HostSendNs.Mean + s.PathNs.Mean + s.FarHostNs.Mean + s.HostReceiveNs.Mean
					hosts := s.HostSendNs.P50 + s.FarHostNs.P50 + s.HostReceiveNs.P50
					switch {
					case math.Abs(sum-s.WholeNs.Mean) > 5:
						return fmt.Errorf("the parts have a mean of %.0f together, the whole of %.0f", sum, s.WholeNs.Mean)
					case s.Unsplit > s.WholeNs.Count/10:
						return fmt.Errorf("%d of %d not split", s.Unsplit, s.Unsplit+s.WholeNs.Count)
					case s.PathNs.P50 < want*0.95 || s.PathNs.P50 > want*1.05+*r.Summary.FloorNs:
						return fmt.Errorf("a path of %s, want %s", messages.FormatLatency(s.PathNs.P50), messages.FormatLatency(want))
					case hosts > want/4:
						return fmt.Errorf("%s in the hosts", messages.FormatLatency(hosts))
					}
					return nil
				})
			})
		}
	}
}

// A load keeps the queue of its bottleneck full, and messages during the load wait in that
// queue; before and after it they do not.
func TestLatencyUnderLoadIsThatOfTheFullQueue(t *testing.T) {
	t.Parallel()
	l := network(t, `
hosts:
  client:
  server: {server: true}
routers:
  gateway:
links:
  - {from: client, to: gateway, rate: 50M, queue: 40ms}
  - {from: gateway, to: server}
`)
	agrees(t, func() error {
		r := run(t, l, "tcp", "-t", "3s", "-C", "cubic", "--with-latency")
		idle, loaded := r.Summary.IdleRTT, r.Summary.LoadedRTT
		if idle == nil || loaded == nil {
			return errors.New("the result has no latency under load")
		}
		t.Logf("idle %s, loaded %s, %.0f RPM", messages.FormatLatency(idle.P50), messages.FormatLatency(loaded.P50), r.Summary.RPM)
		// Cubic fills the queue, loses packets, and reduces its window to 7/10.
		const full = 40e6
		want := 60e9 / loaded.P50
		switch {
		case loaded.P50 < full/2 || loaded.P50 > full*1.1:
			return fmt.Errorf("the median under load is %s, want 20 to 44 ms", messages.FormatLatency(loaded.P50))
		case idle.P50 > full/20:
			return fmt.Errorf("the idle median is %s: the load is in it", messages.FormatLatency(idle.P50))
		case r.Summary.RPM < want*0.8 || r.Summary.RPM > want*1.3:
			return fmt.Errorf("%.0f RPM with a median of %s", r.Summary.RPM, messages.FormatLatency(loaded.P50))
		}
		return nil
	})
}

func TestMeasuredLossEqualsTheLossOfThePath(t *testing.T) {
	l := network(t, `
hosts:
  client:
  server: {server: true}
links:
  - {from: client, to: server, loss: 5%}
`)
	for _, path := range [][]string{{"-t", "2s", "-b", "20M"}, {"-t", "1s", "-b", "40M", "--tx", "gso", "--rx", "gro"}} {
		agrees(t, func() error {
			r := run(t, l, "udp", append(path, "-s", "1000")...)
			// 5000 datagrams: 5 % plus or minus four standard errors.
			if got := *r.Summary.LossRatio; got < 0.037 || got > 0.063 {
				return fmt.Errorf("%v: loss %.4f, want 0.05", path, got)
			}
			return nil
		})
	}
}

package limits

import (
	"fmt"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/server"
	"soku/test/tier"
)

const (
	limit  = measure.Rate(40_000_000) // of every server here
	second = int64(limit) / 8         // bytes
	cheats = time.Second              // how long each client moves what it can
	// A host with other work may keep a client from its rate, not over it: such a cell runs again.
	reachMost = 4
	under     = int64(limit) / 8 / 10 * 15 / 10 // what may be under way or lent, bytes: see docs/protocol.md
)

// moved is what passed in a cell at the server, in bytes: in is received, out is sent. -1 is
// not known.
type moved struct{ in, out int64 }

// rateCell is one way to ask for more than the limit, and to take it.
type rateCell struct {
	name     string
	run      func(t *testing.T, s *served, g *greedy) moved
	together bool // the limit is one for both directions
	slowed   bool // the limit is reached, too: nothing ends the test
}

func TestNothingPassesTheRateOfAServer(t *testing.T) {
	t.Parallel()
	tier.WatchesTheClock(t)
	var cells []cell
	for _, c := range rateCells() {
		cells = append(cells, cell{c.name, func(t *testing.T) {
			least := int64(0.9 * float64(second) * cheats.Seconds())
			var m moved
			for range reachMost {
				s := serve(t, server.Config{MaxRate: limit})
				g := newGreedy()
				began := time.Now()
				m = c.run(t, s, g)
				took := time.Since(began)
				most := within(took)
				if c.together {
					m.in, m.out = max(0, m.in)+max(0, m.out), 0
				}
				if m.in > most || m.out > most {
					t.Errorf("%+v bytes in %v, want %d at most\n%s", m, took, most, s.Logs())
				}
				if !c.slowed || max(m.in, m.out) >= least {
					return
				}
			}
			t.Errorf("at last %+v bytes, want %d at least", m, least)
		}})
	}
	runAll(t, cells)
}

// within is what the limit allows in some time, bytes.
func within(d time.Duration) int64 { return int64(1.05*float64(second)*d.Seconds()) + under }

func rateCells() (cells []rateCell) {
	for _, d := range []measure.Direction{measure.Forward, measure.Reverse, measure.Bidirectional} {
		for _, streams := range []int{1, 4} {
			for _, way := range []string{"time", "bytes", "an hour's intervals", "a burst"} {
				for _, test := range []measure.Test{measure.TestTCP, measure.TestUDP} {
					cells = append(cells, rateCell{
						name:   fmt.Sprintf("native %s %s %d streams by %s", test, d, streams, way),
						slowed: test == measure.TestTCP && d == measure.Forward,
						run: func(t *testing.T, s *served, g *greedy) moved {
							return nativeFlows(t, s, g, test, streamOptions(test, d, streams, way))
						},
					})
				}
			}
		}
	}
	for _, protocol := range []string{"tcp", "udp"} {
		for _, flows := range []int{1, 4} {
			for _, spin := range []string{"off", "on"} {
				cells = append(cells, rateCell{
					name: fmt.Sprintf("native latency %s %d flows spin %s pipelined", protocol, flows, spin),
					run: func(t *testing.T, s *served, g *greedy) moved {
						return nativeMessages(t, s, g, protocol, flows, spin)
					},
				})
			}
		}
	}
	for _, streams := range []int{1, 4} {
		cells = append(cells, rateCell{
			name: fmt.Sprintf("native connect %d streams", streams),
			run:  func(t *testing.T, s *served, g *greedy) moved { return nativeConnect(t, s, streams) },
		})
	}
	for _, protocol := range []string{"tcp", "udp"} {
		for _, d := range []string{"forward", "reverse", "bidir"} {
			for _, streams := range []int{1, 4} {
				for _, way := range []string{"time", "num", "blockcount"} {
					cells = append(cells, rateCell{
						name:     fmt.Sprintf("iperf3 %s %s %d streams by %s", protocol, d, streams, way),
						together: true,
						slowed:   protocol == "tcp" && d == "forward" || d == "reverse",
						run: func(t *testing.T, s *served, g *greedy) moved {
							return iperf3Flows(t, s, g, protocol, d, streams, way)
						},
					})
				}
			}
		}
	}
	for _, streams := range []int{1, 4} {
		for _, reverse := range []bool{false, true} {
			cells = append(cells, rateCell{
				name: fmt.Sprintf("ethr bandwidth %d connections reverse %v", streams, reverse), together: true, slowed: true,
				run: func(t *testing.T, s *served, g *greedy) moved { return ethrFlows(t, s, g, streams, reverse) },
			})
		}
		cells = append(cells, rateCell{
			name: fmt.Sprintf("ethr latency %d connections pipelined", streams), together: true,
			run: func(t *testing.T, s *served, g *greedy) moved { return ethrMessages(t, s, g, streams) },
		}, rateCell{
			name: fmt.Sprintf("ethr datagrams %d sockets", streams), together: true,
			run: func(t *testing.T, s *served, g *greedy) moved { return ethrDatagrams(t, s, g, streams) },
		})
	}
	return cells
}

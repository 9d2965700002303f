package lab

import (
	"math"
	"net/netip"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"soku/internal/sock"
	"soku/test/tier"
)

// rtts are n round trips of ICMP echo in ns, with a pause before each, watched
// without sleeping, so that they hold what the path adds and not what waking up adds.
func rtts(t *testing.T, l *Lab, from, to string, n int, pause time.Duration) []int64 {
	t.Helper()
	fd := on(t, l, from, func() (int, error) {
		return unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, unix.IPPROTO_ICMP)
	})
	defer unix.Close(fd)
	target := &unix.SockaddrInet4{Addr: netip.MustParseAddr(address(t, l, to, "")).As4()}
	if err := unix.Connect(fd, target); err != nil {
		t.Fatal(err)
	}
	var out []int64
	buf := make([]byte, 256)
	for i := range n {
		request := make([]byte, 64)
		request[0], request[7] = 8, byte(i) // echo request; the kernel fills in checksum and identifier
		time.Sleep(pause)
		begin := time.Now()
		if _, err := unix.Write(fd, request); err != nil {
			t.Fatal(err)
		}
		for {
			k, err := unix.Read(fd, buf)
			if err == nil && k >= 8 && buf[7] == byte(i) {
				out = append(out, int64(time.Since(begin)))
				break
			}
			if time.Since(begin) > time.Second {
				t.Fatalf("no answer to echo %d: %v", i, err)
			}
		}
	}
	slices.Sort(out)
	return out
}

// passing is a packet that a host's devices saw.
type passing struct {
	reply bool
	n     byte // of the echo
	at    time.Time
}

// watch returns what collects the echoes that have passed a host since, with the
// kernel's time of each. Watching wakes no process.
func watch(t *testing.T, l *Lab, host string) (collect func() []passing) {
	t.Helper()
	const all = unix.ETH_P_ALL << 8 // in the network's byte order
	fd := on(t, l, host, func() (int, error) {
		return unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, all)
	})
	if err := sock.Stamp(fd, true); err != nil {
		t.Fatal(err)
	}
	return func() (out []passing) {
		defer unix.Close(fd)
		var r sock.StampedReader
		b := make([]byte, 256)
		for {
			n, at, err := r.Read(fd, b)
			if err != nil {
				return out
			}
			if ip := b[:n]; n >= 28 && ip[0] == 0x45 && ip[9] == unix.IPPROTO_ICMP {
				out = append(out, passing{ip[20] == 0, ip[27], at})
			}
		}
	}
}

// given is the time of each echo, or each reply, between two hosts, in ns.
func given(from, to []passing, reply bool) (out []int64) {
	for _, f := range from {
		for _, t := range to {
			if f.reply == reply && t.reply == reply && f.n == t.n {
				out = append(out, int64(t.at.Sub(f.at)))
			}
		}
	}
	slices.Sort(out)
	return out
}

// Times are those at which packets leave one device and reach the other, so the
// cost of asking and answering is not in them.
func TestADelayIsExactAndRecorded(t *testing.T) {
	tier.WatchesTheClock(t)
	l := up(t, `
hosts: {a: , near: , middle: , far: }
links:
  - {from: a, to: near, delay: 0.25ms}
  - {from: a, to: middle, delay: 1ms}
  - {from: a, to: far, delay: 5ms}
`)
	const echoes = 31
	for i, host := range []string{"near", "middle", "far"} {
		for name, c := range map[string]struct {
			pause time.Duration
			most  float64
		}{
			"awake":  {0, 1.02},
			"asleep": {10 * time.Millisecond, 1.05}, // a processor that slept is slower
		} {
			t.Run(host+", "+name, func(t *testing.T) {
				tr, err := l.Topology.Truth("a", host, "")
				if err != nil {
					t.Fatal(err)
				}
				want := float64(tr.RTTNs) / 2
				before := status(t, l)
				n := uint64(0)
				best := [2]float64{math.Inf(1), math.Inf(1)}
				for range 12 { // a batch during which others held the processors says nothing
					here, there := watch(t, l, "a"), watch(t, l, host)
					rtts(t, l, "a", host, echoes, c.pause)
					n += echoes
					a, b := here(), there()
					for way, got := range [][]int64{given(a, b, false), given(b, a, true)} {
						if len(got) != echoes {
							t.Fatalf("%d of %d echoes were seen", len(got), echoes)
						}
						if float64(got[0]) < want*0.97 {
							t.Errorf("one way took %d ns, want at least %.0f and 3 %% less", got[0], want)
						}
						best[way] = min(best[way], float64(got[len(got)/2]))
					}
					if max(best[0], best[1]) < want*c.most {
						break
					}
				}
				if max(best[0], best[1]) > want*c.most {
					t.Errorf("medians are %.0f ns there and %.0f back, want %.0f and at most %.0f %% more", best[0], best[1], want, 100*c.most-100)
				}
				for w, way := range status(t, l).Links[2*i : 2*i+2] {
					g := way.Given
					if g == nil || g.Packets != before.Links[2*i+w].Given.Packets+n || g.Overflow+g.Lost+g.Failed != 0 {
						t.Fatalf("%s to %s after %d echoes more: %+v", way.From, way.To, n, g)
					}
					if g.P50Ns < way.DelayNs || g.P50Ns > way.DelayNs*103/100 || g.MaxNs < g.P50Ns {
						t.Errorf("%s to %s: given %+v", way.From, way.To, g)
					}
				}
			})
		}
	}
}

func status(t *testing.T, l *Lab) *Status {
	t.Helper()
	s, err := l.Status()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestJitterVariesTheDelayInBothDirectionsOnly(t *testing.T) {
	tier.WatchesTheClock(t)
	l := up(t, "hosts: {a: , b: }\nlinks: [{from: a, to: b, delay: 2ms, jitter: 1ms}]")
	got := rtts(t, l, "a", "b", 200, 0)
	if got[0] < 2e6 || got[10] > 3.5e6 || got[len(got)-10] < 4.5e6 {
		t.Errorf("round trips from %d by %d to %d ns; want 4 ms and 2 ms up and down", got[0], got[len(got)/2], got[len(got)-1])
	}
}

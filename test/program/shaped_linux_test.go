package program

import (
	"encoding/json"
	"math"
	"os/exec"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"

	"soku/test/built"
	"soku/test/cable"
	"soku/test/tier"
)

// shaped is a cable of 1 Gbit/s each way.
func shaped(t *testing.T) (a, b cable.Host) {
	t.Helper()
	a, b = cable.Pair(t)
	const perSecond = 1e9 / 8
	for _, h := range []cable.Host{a, b} {
		h.Link(t, func(link netlink.Link) error {
			return netlink.QdiscAdd(&netlink.Tbf{
				QdiscAttrs: netlink.QdiscAttrs{LinkIndex: link.Attrs().Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT},
				Rate:       perSecond, Limit: 1 << 20, Buffer: netlink.Xmittime(perSecond, 128<<10),
			})
		})
	}
	return a, b
}

// summary is what a client of iperf3 reports: the rate of each sum, and the intervals.
type summary struct {
	rates     map[string]float64
	intervals int
}

// off is how far a rate is from the given one, at most, as a ratio.
func (s summary) off(rate float64) (most float64) {
	for _, r := range s.rates {
		most = max(most, math.Abs(r/rate-1))
	}
	return most
}

// summarised runs a client of iperf3 on a host.
func summarised(t *testing.T, on cable.Host, command ...string) (s summary) {
	t.Helper()
	var out []byte
	on.Do(t, func() (err error) {
		out, err = exec.CommandContext(t.Context(), command[0], command[1:]...).Output()
		return err
	})
	var doc struct {
		Intervals []any
		End       map[string]json.RawMessage
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s = summary{map[string]float64{}, len(doc.Intervals)}
	for name, raw := range doc.End {
		var sum struct {
			Rate float64 `json:"bits_per_second"`
		}
		if strings.HasPrefix(name, "sum") && json.Unmarshal(raw, &sum) == nil {
			s.rates[name] = sum.Rate
		}
	}
	return s
}

// iperf3Server runs iperf3's server on a host until the test ends.
func iperf3Server(t *testing.T, iperf3 string, on cable.Host) {
	t.Helper()
	server := exec.Command(iperf3, "-s")
	on.Do(t, server.Start)
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
}

// An amount arrives as a whole, and the wait for that is in no rate.
func TestAClientOfIperf3SeesItsAmountArrive(t *testing.T) {
	tier.WatchesTheClock(t)
	iperf3, err := exec.LookPath("iperf3")
	if err != nil {
		t.Skip("iperf3 is not installed: apt-get install iperf3")
	}
	soku := built.Program(t)
	a, b := shaped(t)
	iperf3Server(t, iperf3, b)
	const tries, near = 10, 0.05
	for _, mode := range []string{"-n 4M", "-n 4M -Z", "-u -b 200M -n 4M"} {
		var s summary
		ratio := 0.0
		for try := range tries {
			s = summarised(t, a, append([]string{soku, "iperf3", "-c", b.Addr.String(), "-J"}, strings.Fields(mode)...)...)
			if ratio = s.rates["sum_received"] / s.rates["sum_sent"]; math.Abs(ratio-1) < near {
				break
			}
			t.Logf("%s, try %d: %v", mode, try+1, s.rates)
		}
		if math.Abs(ratio-1) >= near {
			t.Errorf("%s: %v", mode, s.rates)
		}
	}
}

// Streams with a rate below that of the link have it at both ends, less what their ends
// count of the time.
func TestAClientOfIperf3CountsNoTimeAfterTheTest(t *testing.T) {
	tier.WatchesTheClock(t)
	iperf3, err := exec.LookPath("iperf3")
	if err != nil {
		t.Skip("iperf3 is not installed: apt-get install iperf3")
	}
	soku := built.Program(t)
	a, b := shaped(t)
	iperf3Server(t, iperf3, b)
	const tries, near = 10, 0.005 // another process may take the processors
	for mode, rate := range map[string]float64{"-u -b 50M": 50e6, "-u -b 50M --bidir": 50e6, "-b 100M -P 2": 200e6} {
		var s summary
		for try := range tries {
			s = summarised(t, a, append([]string{soku, "iperf3", "-c", b.Addr.String(), "-J", "-t", "1"}, strings.Fields(mode)...)...)
			if s.intervals != 1 || s.off(rate) < near {
				break
			}
			t.Logf("%s, try %d: %v", mode, try+1, s.rates)
		}
		if s.intervals != 1 || len(s.rates) == 0 || s.off(rate) >= near {
			t.Errorf("%s: %d intervals, %v", mode, s.intervals, s.rates)
		}
	}
}

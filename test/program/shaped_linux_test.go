package program

import (
	"bufio"
	"encoding/json"
	"io"
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

// besideIperf3 is the program, a host for it, and the address of iperf3's server at the other end
// of a cable of 1 Gbit/s. The server runs until the test ends.
func besideIperf3(t *testing.T) (soku string, on cable.Host, server string) {
	t.Helper()
	iperf3, err := exec.LookPath("iperf3")
	if err != nil {
		t.Skip("iperf3 is not installed: test/peers installs it")
	}
	soku = built.Program(t)
	on, far := shaped(t)
	cmd := exec.Command(iperf3, "-s", "--forceflush")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	far.Do(t, cmd.Start)
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewScanner(out)
	for listening := false; !listening; listening = strings.Contains(lines.Text(), "listening on") {
		if !lines.Scan() {
			t.Fatalf("iperf3 -s does not listen: %v", lines.Err())
		}
	}
	go func() { _, _ = io.Copy(io.Discard, out) }() // ends with the server
	return soku, on, far.Addr.String()
}

// untilRight measures until the figures are right, at most ten times: another process may take the
// processors.
func untilRight(t *testing.T, mode string, run func() summary, right func(summary) bool) {
	t.Helper()
	var s summary
	for range 10 {
		if s = run(); right(s) {
			return
		}
		t.Logf("%s: %v", mode, s.rates)
	}
	t.Errorf("%s: %v", mode, s.rates)
}

// An amount arrives as a whole, and the wait for that is in no rate.
func TestAClientOfIperf3SeesItsAmountArrive(t *testing.T) {
	tier.WatchesTheClock(t)
	soku, on, server := besideIperf3(t)
	const near = 0.05
	for _, mode := range []string{"-n 4M", "-n 4M -Z", "-u -b 200M -n 4M"} {
		untilRight(t, mode, func() summary {
			return summarised(t, on, append([]string{soku, "iperf3", "-c", server, "-J"}, strings.Fields(mode)...)...)
		}, func(s summary) bool {
			return math.Abs(s.rates["sum_received"]/s.rates["sum_sent"]-1) < near // not of no rates, 0/0
		})
	}
}

// Streams with a rate below that of the link have it at both ends, less what their ends
// count of the time.
func TestAClientOfIperf3CountsNoTimeAfterTheTest(t *testing.T) {
	tier.WatchesTheClock(t)
	soku, on, server := besideIperf3(t)
	const near = 0.005
	for mode, rate := range map[string]float64{"-u -b 50M": 50e6, "-u -b 50M --bidir": 50e6, "-b 100M -P 2": 200e6} {
		untilRight(t, mode, func() summary {
			s := summarised(t, on, append([]string{soku, "iperf3", "-c", server, "-J", "-t", "1"}, strings.Fields(mode)...)...)
			if s.intervals != 1 || len(s.rates) == 0 {
				t.Fatalf("%s: %d intervals, %v", mode, s.intervals, s.rates)
			}
			return s
		}, func(s summary) bool { return s.off(rate) < near })
	}
}

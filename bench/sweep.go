package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// sweepStreams are the numbers of streams of a sweep.
var sweepStreams = []int{1, 2, 4, 8, 12, 14, 16, 17, 20, 24, 32, 48, 64}

// availableFile lists the congestion controls that the kernel has loaded.
const availableFile = "/proc/sys/net/ipv4/tcp_available_congestion_control"

// defaultControl returns the system's congestion control, cubic if unknown. Call it before
// [useCubic].
func defaultControl() string {
	name, err := os.ReadFile(congestionFile)
	if err != nil {
		return "cubic"
	}
	return strings.TrimSpace(string(name))
}

// sweepControls returns the congestion controls of a sweep: the system's default, then cubic and
// bbr if they are available.
func sweepControls(defaultName, available string) []string {
	out := []string{defaultName}
	for _, name := range []string{"cubic", "bbr"} {
		if name != defaultName && slices.Contains(strings.Fields(available), name) {
			out = append(out, name)
		}
	}
	return out
}

// sweeps are contests of soku with the fastest mode of iperf3 over loopback: one a congestion
// control and number of streams.
func sweeps(controls []string, streams []int) (out []Contest) {
	for _, control := range controls {
		for _, n := range streams {
			common := []string{"-C", control, "-P", fmt.Sprint(n)}
			out = append(out, Contest{fmt.Sprintf("tcp-congestion-%s-%d", control, n), "loopback", kindDiscard, []Metric{goodput}, perGB, []Contender{
				soku(sokuLabel, "tcp", append(slices.Clone(common), "--tx", "splice", "--rx", "discard")...),
				iperf3("iperf3 best", append(common, iperf3Best...)...),
			}})
		}
	}
	return out
}

// writeSweep writes a table: one row a contest.
func (d *document) writeSweep(w io.Writer) {
	fmt.Fprint(w, "\n| contest | soku, Gbit/s | from..to | iperf3 best, Gbit/s | from..to | soku to iperf3 |\n|---|---|---|---|---|---|\n")
	for _, c := range d.contests {
		standings, _ := rank(c, d.of(c.Name), goodput, d.Seconds)
		fmt.Fprintf(w, "| %s |", c.Name)
		for _, e := range c.Entries {
			values := find(standings, e.Label).values
			if len(values) == 0 {
				fmt.Fprint(w, " | |")
				continue
			}
			fmt.Fprintf(w, " %.1f | %.1f..%.1f |", median(values), slices.Min(values), slices.Max(values))
		}
		fmt.Fprintf(w, " %s |\n", ratioText(1/find(standings, c.Entries[1].Label).ratio))
	}
}

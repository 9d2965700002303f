package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// document has the contents of docs/performance.md.
type document struct {
	Header   []string `json:"header"` // machine, versions, date: one line each
	Rounds   int      `json:"rounds"`
	Seconds  int      `json:"seconds"`
	Seed     uint64   `json:"seed"`
	Missing  []string `json:"not_found"`
	Skipped  []string `json:"skipped"`
	Runs     []Run    `json:"runs"`
	contests []Contest
	folders  folders
}

func (d *document) of(contest string) []Run {
	var out []Run
	for _, r := range d.Runs {
		if r.Contest == contest {
			out = append(out, r)
		}
	}
	return out
}

// write renders the document as Markdown.
func (d *document) write(w io.Writer) {
	fmt.Fprint(w, "# Performance\n\nsoku and its peers, measured side by side on one machine. `make bench` repeats the measurement and writes this page.\n\n")
	for _, h := range d.Header {
		fmt.Fprintf(w, "- %s\n", h)
	}
	fmt.Fprintf(w, "- %d rounds of %d s a run, every program once per round in random order, seed %d\n", d.Rounds, d.Seconds, d.Seed)
	for _, s := range d.Skipped {
		fmt.Fprintf(w, "- skipped: %s\n", s)
	}
	if len(d.Missing) > 0 {
		fmt.Fprintf(w, "- not found and not compared: %s\n", strings.Join(d.Missing, ", "))
	}
	fmt.Fprint(w, `
Figures are medians with the smallest and the largest value. A ratio is the median of the ratios within each round; in the
tables it is relative to soku.
Rates are counted at the receiver over the whole run including its start, for soku, too. Every TCP sender uses cubic, but for
contests that name another congestion control; for programs that cannot select it, it is the system's default during the run. CPU is user and system time of both ends.
Between runs a cache line is sent from one core to the other: below 150 ns the cores are "near", else "far". Only
rounds with the placement of most runs of a contest count; a row shows the number of rounds in which both sides have it.
qperf reports only a mean, of half a round trip: it is doubled.
Files are copied from the page cache to an empty folder: on a disk into a new ext4 file system and until that is flushed
(soku with sync end, others with sync -f), in memory without flushing. The time of others is from exec to exit; soku's is that
of its result, without its start, the list of files before and the removal of the copies after, which the time to the exit
has. The payload rate of the link of 1 Gbit/s is 1448/1514 of it: the rest are headers.

`)
	d.writeTargets(w)
	for _, c := range d.contests {
		if runs := d.of(c.Name); len(runs) > 0 {
			d.writeContest(w, c, runs)
		}
	}
	fmt.Fprint(w, "\n## Repeating the measurement\n\n    bench/peers          # as root: installs the peers that Debian packages, prints which are missing\n"+
		"    make bench           # all contests; or go run ./bench --list, --only PATTERN, --quick, --json FILE\n"+
		"    make sweep           # soku and the fastest mode of iperf3 over loopback at 1 to 64 streams, with the system's default congestion control, cubic and bbr: prints a table\n")
}

func (d *document) writeTargets(w io.Writer) {
	fmt.Fprint(w, "## Targets\n\n| target | contest | bound | figure | rounds | |\n|---|---|---|---|---|---|\n")
	var missed strings.Builder
	var where []string // contests with a miss
	for _, t := range targets() {
		for _, c := range d.contests {
			if !t.applies(c.Name) {
				continue
			}
			s, _ := rank(c, d.of(c.Name), t.metric, d.Seconds)
			v := t.judge(s)
			fmt.Fprintf(w, "| %s | %s | %s | %s | %d | %s |\n", t.text, c.Name, v.atTheBound, ratioText(v.figure), v.rounds, v.word)
			if v.word == "missed" {
				where = append(where, c.Name)
				fmt.Fprintf(&missed, "| %s | %s | %s | %.2f | %.2f..%.2f | %s |\n", t.text, c.Name, v.atTheBound, v.figure, v.from, v.to, ratioText(v.limit))
			}
		}
	}
	if missed.Len() == 0 {
		return
	}
	fmt.Fprint(w, `
## Missed targets

The last column is the figure of the limit, the same technique in C, in place of soku: if it misses the bound as well, the
kernel and this machine determine the figure. Single rounds show the spread; a difference under 10 % is not significant by
itself.
`)
	for _, r := range reasons {
		if slices.ContainsFunc(where, func(contest string) bool { return strings.HasPrefix(contest, r.contest) }) {
			fmt.Fprintln(w, r.text)
		}
	}
	fmt.Fprintf(w, `
| target | contest | bound | figure | in single rounds | figure of the limit |
|---|---|---|---|---|---|
%s`, missed.String())
}

// reasons are known reasons for missed targets, by the prefix of the contest's name.
var reasons = []struct{ contest, text string }{
	{"latency-schedule-", `Open loop: with two processors the two ends spin on all of them, and any other thread of the machine, kernel threads
included, takes a processor away for up to some milliseconds.`},
	{"udp-pps-", `Datagrams without offload: each sender keeps a processor busy, soku's with kernel time only, and that time per
datagram is the same if the receiver sleeps and drops half of them. The kernel's arrival time stamps, which soku needs for
jitter and iperf3 does not use, are 3 % of it.`},
	{"udp-gso-", `Trains of datagrams: each sender keeps a processor busy, half of the time with the kernel's copy of the bytes. Between far
cores the receiver must fetch the sender's data cache line by cache line: both ends on one core carry twice the rate of one
end on each core, so the figure of a run depends on where the kernel placed the ends.`},
}

// ratioText is a ratio, or empty if there is none.
func ratioText(v float64) string { return known("%.2f", v) }

// known is v, or empty if it is unknown.
func known(format string, v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return fmt.Sprintf(format, v)
}

func (d *document) writeContest(w io.Writer, c Contest, runs []Run) {
	fmt.Fprintf(w, "\n## %s\n\nIn %s: %s.\n", c.Name, c.Place, c.Kind)
	for i, m := range c.Metrics {
		standings, placement := rank(c, runs, m, d.Seconds)
		if !slices.ContainsFunc(standings, func(s standing) bool { return len(s.values) > 0 }) && i > 0 {
			continue
		}
		if i == 0 {
			fmt.Fprintf(w, "Cores: %s.\n", placement)
		}
		fmt.Fprintf(w, "\n| | %s | from..to | runs | ratio to soku |", m.Unit)
		cpu := c.Per != "" && i == 0
		if cpu {
			fmt.Fprintf(w, " CPU s per %s | ratio to soku |", c.Per)
		}
		fmt.Fprint(w, "\n|---|---|---|---|---|")
		if cpu {
			fmt.Fprint(w, "---|---|")
		}
		fmt.Fprintln(w)
		for _, s := range standings {
			writeStanding(w, s, m, cpu)
		}
		writeDifference(w, standings, m)
		if ahead := aheadOfSoku(standings, m); len(ahead) > 0 && i == 0 {
			fmt.Fprintf(w, "\nAhead of soku: %s.\n", strings.Join(ahead, ", "))
		}
	}
	standings, _ := rank(c, runs, c.Metrics[0], d.Seconds)
	for _, s := range standings {
		if s.latestErr != "" {
			fmt.Fprintf(w, "\n%s failed in %d runs: %s.\n", s.label, len(s.errors), strings.ReplaceAll(s.latestErr, "|", "/"))
		}
		if s.leftOut > 0 {
			fmt.Fprintf(w, "\n%s: %d runs left out: other core placement.\n", s.label, s.leftOut)
		}
	}
}

// writeDifference writes what the series of the hosts takes, where a contest has soku with and
// without it.
func writeDifference(w io.Writer, all []standing, m Metric) {
	with, without := find(all, sokuLabel), find(all, withoutSeries)
	if with == nil || without == nil {
		return
	}
	pairs := differences(with.byRound, without.byRound)
	mean, half := meanWithin(pairs)
	if math.IsNaN(mean) {
		return
	}
	fmt.Fprintf(w, "\nWith the series less without it: %+.2f %s, 95 %% interval %+.2f to %+.2f, %d pairs.\n", mean, m.Unit, mean-half, mean+half, len(pairs))
}

func writeStanding(w io.Writer, s standing, m Metric, cpu bool) {
	if len(s.values) == 0 {
		return
	}
	value := func(v float64) string { return fmt.Sprintf(m.Format, v) }
	fmt.Fprintf(w, "| %s | %s | %s..%s | %d | %s |", s.label, value(median(s.values)),
		value(slices.Min(s.values)), value(slices.Max(s.values)), len(s.values), ratioText(s.ratio))
	if cpu {
		fmt.Fprintf(w, " %s | %s |", known("%.3f", s.cpu), ratioText(s.cpuRatio))
	}
	fmt.Fprintln(w)
}

// aheadOfSoku are the peers whose paired ratio is better than soku's; the limit is not a
// peer.
func aheadOfSoku(s []standing, m Metric) []string {
	var out []string
	for _, x := range s {
		better := m.Higher && x.ratio > 1 || !m.Higher && x.ratio < 1
		if better && x.label != limitLabel && x.label != limitWideLabel && !strings.HasPrefix(x.label, sokuLabel) {
			out = append(out, x.label)
		}
	}
	return out
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"syscall"
	"time"
)

// settings are the flags.
type settings struct {
	rounds, seconds  int
	only, json, page string
	seed             uint64
	list, quick      bool
	sweep            bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := bench(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func parseFlags(args []string) (settings, error) {
	var s settings
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.IntVar(&s.rounds, "rounds", 5, "how often each program runs in each contest")
	f.IntVar(&s.seconds, "seconds", 2, "how long each run measures")
	f.StringVar(&s.only, "only", "", "only contests whose name matches this regular expression")
	f.StringVar(&s.json, "json", "", "write the raw results to this file")
	f.StringVar(&s.page, "page", "docs/performance.md", "write the page to this file; empty for none")
	f.Uint64Var(&s.seed, "seed", uint64(time.Now().UnixNano()), "seed of the order of runs")
	f.BoolVar(&s.list, "list", false, "list the contests and end")
	f.BoolVar(&s.quick, "quick", false, "one round of one second of a few contests")
	f.BoolVar(&s.sweep, "sweep", false, "only soku and the fastest mode of iperf3 over loopback at 1 to 64 streams; print a table and write no page")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	if s.sweep {
		s.page = ""
	}
	if s.quick {
		s.rounds, s.seconds = 1, 1
		if s.only == "" {
			s.only = "loopback-[18]$|latency|udp|connect|startup"
		}
	}
	if s.rounds < 1 || s.seconds < 1 || s.seconds > 60 {
		return s, errors.New("--rounds wants 1 or more, --seconds 1 to 60")
	}
	return s, nil
}

func bench(ctx context.Context, args []string) error {
	s, err := parseFlags(args)
	if err != nil {
		return err
	}
	pattern, err := regexp.Compile(s.only)
	if err != nil {
		return fmt.Errorf("--only: %w", err)
	}
	d := &document{Rounds: s.rounds, Seconds: s.seconds, Seed: s.seed}
	all := contests()
	if s.sweep {
		available, _ := os.ReadFile(availableFile)
		all = sweeps(sweepControls(defaultControl(), string(available)), sweepStreams)
	}
	for _, c := range all {
		if pattern.MatchString(c.Name) {
			d.contests = append(d.contests, c)
		}
	}
	if s.list {
		for _, c := range d.contests {
			fmt.Fprintf(os.Stdout, "%-28s %s\n", c.Name, labels(c))
		}
		return nil
	}
	scratch, err := os.MkdirTemp("", "soku-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	var removeFolders func()
	d.folders, removeFolders = openFolders()
	defer removeFolders()
	if err := os.Setenv("PATH", strings.Join([]string{scratch, absolute("bin"), absolute("bin/peers"), os.Getenv("PATH")}, ":")); err != nil {
		return err
	}
	if why := compileLimits(ctx, "bench/limit", scratch); why != "" {
		d.Skipped = append(d.Skipped, why)
	}
	restore, note := useCubic()
	defer restore()
	if note != "" {
		d.Skipped = append(d.Skipped, note)
	}
	found := d.keepFound()
	d.Header = describe(ctx, found)
	for _, line := range append(append([]string{}, d.Skipped...), "not found: "+strings.Join(d.Missing, ", ")) {
		fmt.Fprintln(os.Stdout, line)
	}
	d.runAll(ctx)
	if s.sweep {
		d.writeSweep(os.Stdout)
	}
	return d.save(s, ctx.Err())
}

func absolute(path string) string {
	a, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return a
}

func labels(c Contest) string {
	var out []string
	for _, e := range c.Entries {
		out = append(out, e.Label)
	}
	return strings.Join(out, ", ")
}

// keepFound removes contenders that are not on PATH, and returns the programs that are.
func (d *document) keepFound() []string {
	found := map[string]bool{}
	for i := range d.contests {
		d.contests[i].Entries = slices.DeleteFunc(d.contests[i].Entries, func(e Contender) bool {
			has, known := found[e.Program]
			if !known {
				_, err := exec.LookPath(e.Program)
				has = err == nil
				found[e.Program] = has
			}
			return !has
		})
	}
	var out []string
	for p, has := range found {
		if has {
			out = append(out, p)
		} else {
			d.Missing = append(d.Missing, p)
		}
	}
	sort.Strings(out)
	sort.Strings(d.Missing)
	return out
}

// runAll measures one contest after another until ctx ends. Places are created when the
// first contest needs them and removed at the end.
func (d *document) runAll(ctx context.Context) {
	random := rand.New(rand.NewPCG(d.Seed, 0))
	places := map[string]place{"loopback": loopback}
	for i, c := range d.contests {
		p, made := places[c.Place]
		if !made {
			why := canMakePlaces()
			if why == "" {
				var remove func()
				var err error
				link := links[c.Place]
				if p, remove, err = veth(ctx, link.mtu, link.rate); err == nil {
					defer remove()
					places[c.Place] = p
				} else {
					why = err.Error()
				}
			}
			if why != "" {
				line := c.Name + ": " + why
				d.Skipped = append(d.Skipped, line)
				fmt.Fprintln(os.Stdout, "skipped", line)
				continue
			}
		}
		fmt.Fprintf(os.Stdout, "%d/%d %s\n", i+1, len(d.contests), c.Name)
		d.runContest(ctx, c, p, random)
		if ctx.Err() != nil {
			return
		}
	}
}

func (d *document) runContest(ctx context.Context, c Contest, p place, random *rand.Rand) {
	refused := map[string]bool{}
	for round := range d.Rounds {
		for _, i := range random.Perm(len(c.Entries)) {
			e := c.Entries[i]
			if ctx.Err() != nil {
				return
			}
			if refused[e.Label] {
				continue
			}
			// A new port for each run: connections of the previous one may be in TIME-WAIT.
			site := Site{Host: p.host, Port: 20000 + 2*random.IntN(5000), Seconds: d.Seconds, Folders: d.folders}
			before := cacheLine()
			f, cpu, err := perform(ctx, p, site, e)
			after := cacheLine()
			run := Run{Contest: c.Name, Contender: e.Label, Round: round + 1, Figures: f, CPU: cpu, LineNS: max(before, after), Placement: label(before, after)}
			if err != nil {
				run.Error = err.Error()
				refused[e.Label] = errors.Is(err, errUnsupported)
			}
			d.Runs = append(d.Runs, run)
			fmt.Fprintf(os.Stdout, "  %d/%d %-20s %s\n", round+1, d.Rounds, e.Label, run.line(c))
		}
	}
}

// line is a summary of the run.
func (r Run) line(c Contest) string {
	if r.Error != "" {
		return "failed: " + r.Error
	}
	var words []string
	for _, m := range c.Metrics {
		if v, ok := r.Figures[m.Name]; ok {
			words = append(words, fmt.Sprintf(m.Format+" %s", v, m.Unit))
		}
	}
	return fmt.Sprintf("%s  (cores %s, %.0f ns)", strings.Join(words, ", "), r.Placement, r.LineNS)
}

// save writes the raw results, and the page unless the bench was interrupted.
func (d *document) save(s settings, interrupted error) error {
	if s.json != "" {
		text, err := json.MarshalIndent(d, "", " ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(s.json, text, 0o644); err != nil {
			return err
		}
	}
	if interrupted != nil || s.page == "" {
		return interrupted
	}
	var page strings.Builder
	d.write(&page)
	return os.WriteFile(s.page, []byte(page.String()), 0o644)
}

package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"soku/internal/ingest"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/store"
	"soku/internal/text"
	"soku/test/storetest"
)

// stocked is a system with n results, a day apart, the last of now.
func stocked(t *testing.T, n int) (sys *System, run func(args ...string) (stdout, stderr string, code int)) {
	t.Helper()
	sys, out, errs := fakeSystem(t)
	now := time.Date(2026, 11, 25, 12, 0, 0, 0, time.Local)
	sys.Now = func() time.Time { return now }
	sys.StdinTerminal = func() bool { return false }
	if err := os.MkdirAll(sys.DataDir, 0o755); err != nil {
		t.Fatal(err)
	}
	st, err := openStore(t.Context(), sys, "")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for i := range n {
		o := option.Defaults(measure.TestTCP)
		if i%2 == 1 {
			o.Streams, o.Direction, o.Rate, o.Via = 16, measure.Reverse, 1.5e9, option.ViaIperf3
		}
		o, _ = option.Effective(o, measure.TestTCP)
		r := &measure.Result{
			Schema: measure.Schema, ID: fmt.Sprintf("%016xabcd", i), Test: measure.TestTCP, Options: o, StartedAt: now.Add(time.Duration(i-n+1) * 24 * time.Hour),
			Path:    measure.Path{Client: measure.Endpoint{Name: "laptop"}, Server: measure.Endpoint{Name: "gateway.of.a.long.name.example"}, Direction: o.Direction},
			Summary: measure.Summary{GoodputBps: 941.5e6, ReceivedBytes: 1e9, DurationNs: 10e9, Confidence: measure.High},
		}
		if err := st.Put(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	return sys, func(args ...string) (string, string, int) {
		before := len(errs.String())
		sys.Args = args
		out.Reset()
		code := Run(sys)
		return out.String(), errs.String()[before:], code
	}
}

func TestTheListShowsOptionsThatDifferAndFitsTheTerminal(t *testing.T) {
	sys, run := stocked(t, 25)
	out, errs, code := run("ls")
	if code != 0 || strings.Count(out, "\n") != 21 || !strings.Contains(errs, "20 of 25") || !strings.Contains(out, "-R -P 16 -b 1500M --via iperf3") {
		t.Errorf("status %d\n%s%s", code, out, errs)
	}
	for _, width := range []int{40, 80, 60, 50} {
		sys.StdoutWidth = func() int { return width }
		out, _, _ := run("ls")
		for _, line := range strings.Split(out, "\n") {
			if w := text.Terminal.StringWidth(line); w > width {
				t.Errorf("%d columns of %d: %s", w, width, line)
			}
		}
		if n := strings.Count(out, "941.5 Mbit/s"); n != 20 {
			t.Errorf("%d columns: %d of 20 figures are whole\n%s", width, n, out)
		}
		id, _, _ := strings.Cut(strings.Split(out, "\n")[1], " ")
		if shown, errs, code := run("show", id); code != 0 || !strings.Contains(shown, "gateway") {
			t.Errorf("show %s: status %d, %s", id, code, errs)
		}
	}
	if out, errs, _ := run("ls", "--since", "36h"); strings.Count(out, "\n") != 3 || strings.Contains(errs, " of ") {
		t.Errorf("since 36h:\n%s%s", out, errs)
	}
	if out, _, _ := run("ls", "--until", "2026-11-02", "--endpoint", "laptop"); strings.Count(out, "\n") != 2 {
		t.Errorf("until:\n%s", out)
	}
	if _, errs, code := run("ls", "--since", "lately"); code != 2 || !strings.Contains(errs, "neither an age nor a date; write 90d") {
		t.Errorf("since lately: status %d, %s", code, errs)
	}
	for since, results := range map[string]int{"yesterday": 2, "today": 1} {
		if out, errs, code := run("ls", "--since", since); code != 0 || strings.Count(out, "\n") != 1+results {
			t.Errorf("since %s: status %d\n%s%s", since, code, out, errs)
		}
	}
	if out, _, _ := run("show"); strings.Contains(out, "via iperf3") {
		t.Errorf("soku by soku: %s", out)
	}
	if out, _, _ := run("show", fmt.Sprintf("%016xabcd", 1)); !strings.Contains(out, "via iperf3") {
		t.Errorf("what was measured against iperf3 does not say so: %s", out)
	}
}

// A short identity fits no result that is not listed, either.
func TestAShortIdentityIsUniqueInTheStore(t *testing.T) {
	sys, run := stocked(t, 0)
	st, err := openStore(t.Context(), sys, "")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for i, id := range []string{"0193b4c5d6e7aaaa1111", "0193b4c5d6e7aaaa2222", "0193b4c5d6e7abbb3333"} {
		r := storetest.Result(id, i)
		if err := st.Put(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	sys.StdoutWidth = func() int { return 60 }
	out, _, _ := run("ls", "-n", "2")
	for line := range strings.Lines(out) {
		short, _, _ := strings.Cut(line, " ")
		if strings.HasPrefix(short, "0193") {
			if _, errs, code := run("show", short); code != 0 {
				t.Errorf("%s: status %d, %s", short, code, errs)
			}
		}
	}
}

func TestLastHasOthersBeforeIt(t *testing.T) {
	_, run := stocked(t, 3)
	for text, want := range map[string]int{"last": 2, "last~0": 2, "last~1": 1, "last~2": 0} {
		if out, errs, code := run("show", text); code != 0 || !strings.Contains(out, fmt.Sprintf("%016xabcd", want)) {
			t.Errorf("%s: status %d, %s%s", text, code, out, errs)
		}
	}
	for _, text := range []string{"last~3", "last~x", "last~-1"} {
		if _, errs, code := run("show", text); code != 9 || !strings.Contains(errs, text) {
			t.Errorf("%s: status %d, %s", text, code, errs)
		}
	}
	if out, errs, code := run("compare", "last~2", "last"); code != 0 || !strings.Contains(out, "last~2") {
		t.Errorf("compare: status %d, %s%s", code, out, errs)
	}
	if out, errs, code := run("rm", "--yes", "last~1"); code != 0 || out != "1 result deleted\n" {
		t.Errorf("rm: status %d, %s%s", code, out, errs)
	}
	if _, _, code := run("show", fmt.Sprintf("%016xabcd", 1)); code != 9 {
		t.Error("another one was deleted")
	}
}

func TestShowNamesTheCommandForACampaign(t *testing.T) {
	sys, run := stocked(t, 0)
	fillStore(t, sys)
	for _, name := range []string{"01CAMPAIGN", "gateway/sku"} {
		if _, errs, code := run("show", name); code != 9 || !strings.Contains(errs, "01CAMPAIGN is a campaign, not a result; see its report with: soku report 01CAMPAIGN") {
			t.Errorf("%s: status %d, %s", name, code, errs)
		}
	}
}

func TestTheListOfCampaignsFitsTheTerminal(t *testing.T) {
	sys, run := stocked(t, 0)
	st, err := openStore(t.Context(), sys, "")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for i := range 3 {
		c := store.Campaign{
			ID: fmt.Sprintf("20261101-12000%d-gateway-sku-%06x", i, i), Name: "gateway-sku", Title: "Which gateway is the fastest, and by how much?",
			StartedAt: sys.Now().Add(time.Duration(i) * time.Second), FinishedAt: sys.Now().Add(time.Hour), Trials: 1000, Done: 1000, Failed: 12,
		}
		if err := st.PutCampaign(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	whole, _, _ := run("ls", "--campaigns")
	for width, shows := range map[int]string{200: "by how much?", 100: "Which gateway", 80: "Which ", 60: "finished, 12 failed", 40: "1000/1000"} {
		sys.StdoutWidth = func() int { return width }
		out, _, _ := run("ls", "--campaigns")
		if !strings.Contains(out, shows) || strings.Count(out, "\n") != 4 || (out == whole) != (width == 200) {
			t.Errorf("%d columns: %s", width, out)
		}
		for line := range strings.Lines(out) {
			if w := text.Terminal.StringWidth(strings.TrimRight(line, "\n")); w > width {
				t.Errorf("%d columns of %d: %s", w, width, line)
			}
		}
		id, _, _ := strings.Cut(strings.Split(out, "\n")[2], " ")
		if found, err := findCampaign(t.Context(), sys, st, id); err != nil || !strings.HasPrefix(found.ID, "20261101-120001") {
			t.Errorf("%d columns: %q is %q, %v", width, id, found.ID, err)
		}
	}
}

func TestTheListGoesOnBehindAResult(t *testing.T) {
	_, run := stocked(t, 25)
	var pages []string
	before := []string{"ls", "-n", "10"}
	for range 4 {
		out, errs, code := run(before...)
		if code != 0 {
			t.Fatalf("status %d: %s", code, errs)
		}
		for _, line := range strings.Split(strings.TrimSpace(out), "\n")[1:] {
			id, _, _ := strings.Cut(line, " ")
			pages = append(pages, id)
		}
		_, last, more := strings.Cut(strings.TrimSpace(errs), "the next: ")
		if !more {
			break
		}
		before = append([]string{"ls", "-n", "10"}, strings.Fields(last)...)
	}
	var want []string
	for i := range 25 {
		want = append(want, fmt.Sprintf("%016xabcd", 24-i))
	}
	if !slices.Equal(pages, want) {
		t.Errorf("page by page they are %v", pages)
	}
	if out, errs, _ := run("ls", "--before", want[24]); out != "" || !strings.Contains(errs, "none of the 25 results is selected") {
		t.Errorf("behind the last: %s%s", out, errs)
	}
	if _, errs, code := run("ls", "--before", "ffffffff"); code != 9 {
		t.Errorf("behind none: status %d, %s", code, errs)
	}
}

func TestTheJSONOfTheListTellsResultsApart(t *testing.T) {
	_, run := stocked(t, 2)
	out, errs, code := run("ls", "--json")
	var list []listedResult
	if err := json.Unmarshal([]byte(out), &list); err != nil || code != 0 {
		t.Fatalf("%v, status %d, %s", err, code, errs)
	}
	if a, b := list[0], list[1]; a.Streams != 16 || a.Via != option.ViaIperf3 || a.Direction != measure.Reverse || b.Streams != 1 || b.Direction != measure.Forward {
		t.Errorf("%+v", list)
	}
}

func TestTheListHasOnlyWhatIsSelected(t *testing.T) {
	sys, out, errs := fakeSystem(t)
	fillStore(t, sys)
	for args, want := range map[string]int{
		"": 6, "--by-hand": 2, "--campaign gateway/sku": 4, "--endpoint vm": 6, "--endpoint office": 6, "--endpoint vm2": 0, "--test tcp": 6, "--test udp": 0,
		"--level sku=ultra": 2, "--level sku=ultra --level sku=high": 0, "--level zone=1": 0, "--campaign gateway/sku --level sku=high": 2,
	} {
		sys.Args = append([]string{"ls", "--json"}, strings.Fields(args)...)
		out.Reset()
		if code := Run(sys); code != 0 || strings.Count(out.String(), `"id"`) != want {
			t.Errorf("%s: status %d, want %d results: %s%s", args, code, want, out, errs)
		}
	}
}

// The width of arrows and dashes is that of one column in all locales, as in summaries.
func TestTheListIsAlignedInAnEastAsianLocale(t *testing.T) {
	before := runewidth.DefaultCondition.EastAsianWidth
	runewidth.DefaultCondition.EastAsianWidth = true
	defer func() { runewidth.DefaultCondition.EastAsianWidth = before }()
	_, run := stocked(t, 2)
	out, _, _ := run("ls")
	var at []int
	for line := range strings.Lines(out) {
		cell := "FIGURE"
		if len(at) > 0 {
			cell = "941.5 Mbit/s"
		}
		begin, _, _ := strings.Cut(line, cell)
		at = append(at, utf8.RuneCountInString(begin))
	}
	if len(at) != 3 || at[0] != at[1] || at[1] != at[2] {
		t.Errorf("the column begins at %d:\n%s", at, out)
	}
}

func TestResultsAreDeletedByIdentityAndByAge(t *testing.T) {
	sys, run := stocked(t, 25)
	count := func() int {
		st, err := openStore(t.Context(), sys, "")
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		n, err := st.Count(t.Context(), store.Query{})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if _, errs, code := run("rm", "last", "0123"); code != 9 || count() != 25 {
		t.Errorf("one that is not there: status %d, %s, %d left", code, errs, count())
	}
	if _, errs, code := run("rm", "last"); code != 2 || !strings.Contains(errs, "give --yes") || count() != 25 {
		t.Errorf("no terminal: status %d, %s, %d left", code, errs, count())
	}
	sys.StdinTerminal = func() bool { return true }
	sys.Stdin = strings.NewReader("n\n")
	want := "delete 1 result: 0000000000000018abcd, tcp laptop → gateway.of.a.long.name.example, 2026-11-25 12:00:00, 941.5 Mbit/s? [y/N]"
	if _, errs, code := run("rm", "last", "last"); code != 0 || !strings.Contains(errs, want) || !strings.Contains(errs, "nothing is deleted") || count() != 25 {
		t.Errorf("no: status %d, %s, %d left", code, errs, count())
	}
	sys.Stdin = strings.NewReader("y\n")
	if out, errs, code := run("rm", "last", fmt.Sprintf("%016x", 3)); code != 0 || out != "2 results deleted\n" || count() != 23 {
		t.Errorf("status %d, %s%s, %d left", code, out, errs, count())
	}
	sys.StdinTerminal = func() bool { return false }
	if out, _, code := run("prune", "--older-than", "10d", "--dry-run"); code != 0 || !strings.HasPrefix(out, "13 of 23 would be deleted") || count() != 23 {
		t.Errorf("status %d, %s, %d left", code, out, count())
	}
	if _, errs, code := run("prune", "--older-than", "10d"); code != 2 || !strings.Contains(errs, "give --yes") || count() != 23 {
		t.Errorf("nobody to ask: status %d, %s, %d left", code, errs, count())
	}
	if _, errs, code := run("prune"); code != 2 || !strings.Contains(errs, "--older-than") {
		t.Errorf("no time: status %d, %s", code, errs)
	}
	sys.StdinTerminal = func() bool { return true }
	sys.Stdin = strings.NewReader("n\n")
	if _, errs, code := run("prune", "--older-than", "10d"); code != 0 || !strings.Contains(errs, "[y/N]") || count() != 23 {
		t.Errorf("no: status %d, %s, %d left", code, errs, count())
	}
	sys.Stdin = strings.NewReader("yes\n")
	if out, _, code := run("prune", "--older-than", "10d"); code != 0 || out != "13 results deleted\n" || count() != 10 {
		t.Errorf("yes: status %d, %s, %d left", code, out, count())
	}
	if out, _, code := run("prune", "--older-than", "2026-11-22", "--test", "tcp", "--yes"); code != 0 || out != "7 results deleted\n" || count() != 3 {
		t.Errorf("status %d, %s, %d left", code, out, count())
	}
}

func TestAShellIsOfferedWhatIsThere(t *testing.T) {
	sys, run := stocked(t, 3)
	st, err := openStore(t.Context(), sys, "")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if err := st.PutCampaign(t.Context(), store.Campaign{ID: "20261125-gateways-abcd", Name: "gateways", StartedAt: sys.Now()}); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"show 0":                    fmt.Sprintf("%016xabcd", 1),
		"rm ":                       "last",
		"report --format ":          "html",
		"ingest --format ":          "iperf3",
		"ls --test ":                "latency",
		"tcp --tx ":                 "zerocopy",
		"run ":                      "yaml",
		"plan ":                     "yaml",
		"report ":                   "last",
		"help lab ":                 "up",
		"ls --campaign ":            "20261125-gateways-abcd",
		"report 2026":               "20261125-gateways-abcd",
		"run plan.yaml --campaign ": "last",
	} {
		words := append([]string{"__complete"}, strings.Split(args, " ")...)
		if out, errs, code := run(words...); code != 0 || !strings.Contains(out, want) {
			t.Errorf("%s: status %d, %s%s", args, code, out, errs)
		}
	}
}

func TestAShellIsOfferedEachNameOfHelpOnce(t *testing.T) {
	out, errs, code := soku(t, "__complete", "help", "")
	seen := map[string]int{}
	for line := range strings.Lines(out) {
		name, _, _ := strings.Cut(line, "\t")
		seen[name]++
	}
	if code != 0 || seen["plan"] != 1 || seen["rules"] != 1 || seen["tcp"] != 1 {
		t.Errorf("status %d, %s%s", code, out, errs)
	}
}

func TestAShellIsOfferedOnlyValuesThatFit(t *testing.T) {
	for args, want := range map[string]string{
		"tcp h --tx ":                  "auto write splice zerocopy sendfile",
		"udp h --tx ":                  "auto write batch gso",
		"tcp h -b 1G --tx ":            "auto write sendfile",
		"latency h --via ":             "soku ethr",
		"mtu h --probe ":               "icmp udp",
		"latency h -P 2 --ip-version ": "0 4 6",
		"tcp h -b 1 --direction ":      "forward reverse bidirectional",
		"ingest --format ":             strings.Join(ingest.Formats(), " "),
	} {
		out, errs, code := soku(t, append([]string{"__complete"}, strings.Split(args, " ")...)...)
		values, _, _ := strings.Cut(out, "\n:")
		if code != 0 || strings.Join(strings.Fields(values), " ") != want {
			t.Errorf("%s: status %d, %q%s", args, code, values, errs)
		}
	}
}

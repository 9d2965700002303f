package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"soku/internal/campaign"
	"soku/internal/campaign/journal"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/measure/option"
	"soku/internal/store"
	"soku/internal/text"
	"soku/internal/wire"
	"soku/test/hostile"
)

// hostileResults are results of every test, complete in all their members, in which every
// text is an attacker's: those that choose what is shown (a direction, a state) also, or not.
func hostileResults() (all []*measure.Result) {
	chosen := []reflect.Type{
		reflect.TypeFor[measure.Direction](), reflect.TypeFor[measure.Role](), reflect.TypeFor[measure.Confidence](),
		reflect.TypeFor[finding.Severity](), reflect.TypeFor[measure.Where](), reflect.TypeFor[measure.Kind](), reflect.TypeFor[measure.Reason](),
	}
	for _, test := range measure.Tests() {
		for _, form := range []struct {
			keep             []reflect.Type
			failed, ingested bool
		}{{nil, false, false}, {chosen, false, true}, {chosen, true, false}, {nil, true, true}} {
			r := &measure.Result{Options: option.Defaults(test)}
			if len(all) < 2 {
				r.Findings = hostileFindings()
			}
			r.Path.Direction = measure.Forward
			hostile.Fill(r, hostile.Bytes, append(form.keep, reflect.TypeFor[measure.Test](), reflect.TypeFor[measure.Histogram](), reflect.TypeFor[measure.Findings]())...)
			if r.Options.Own != nil {
				own := reflect.New(reflect.TypeOf(r.Options.Own))
				hostile.Fill(own.Interface(), hostile.Bytes)
				r.Options.Own = own.Elem().Interface()
			}
			r.Schema, r.Test, r.StartedAt = measure.Schema, test, time.Unix(1, 0)
			r.ID = fmt.Sprint(len(all), hostile.Text)
			r.Trial.Campaign, r.Trial.Levels = "c"+hostile.Text, []measure.Level{{Factor: hostile.Text, Value: fmt.Sprint(len(all)%3, hostile.Text)}}
			if !form.failed {
				r.Error = nil
			}
			if !form.ingested {
				r.Origin = nil
			}
			all = append(all, r)
		}
	}
	return all
}

// hostileFindings are one of each code, and one that no version knows, whose figures are an
// attacker's.
func hostileFindings() (all measure.Findings) {
	for _, info := range append(finding.All(), finding.Info{Code: hostile.Bytes, Severity: finding.Warning}) {
		f := measure.Finding{Code: info.Code, Severity: info.Severity, Where: hostile.Bytes, Figures: measure.Figures{"strange": hostile.Bytes}}
		for _, figure := range info.Figures {
			f.Figures[figure.Key] = 1.0
			if figure.Text {
				f.Figures[figure.Key] = hostile.Bytes
			}
		}
		f.Cause = &measure.Error{Kind: measure.KindBroken, Message: hostile.Bytes, Hint: hostile.Bytes}
		all = append(all, f)
	}
	return all
}

func TestNoResultControlsTheTerminal(t *testing.T) {
	t.Parallel()
	c := text.English()
	for _, r := range hostileResults() {
		for _, columns := range []int{0, 80} {
			what := fmt.Sprintf("%s on %d columns, error %v, origin %v", r.Test, columns, r.Error != nil, r.Origin != nil)
			var b bytes.Buffer
			printResult(c, &b, columns, r, showFlags{rows: true, evidence: true})
			hostile.Clean(t, "show of "+what, b.String())
			for _, f := range []*measureFlags{{rows: true, table: ethrName}, {json: true}, {jsonStream: true}} {
				b.Reset()
				if err := hostileLive(&b, r, columns, f).finish(r, true); err != nil {
					t.Error(err)
				}
				hostile.Clean(t, fmt.Sprintf("summary of %s, JSON %v %v", what, f.json, f.jsonStream), b.String())
			}
		}
	}
}

// hostileLive is the live view of a result's test against a host with a name like that.
func hostileLive(w io.Writer, r *measure.Result, columns int, f *measureFlags) *live {
	sys := &System{Stdout: w, Stderr: w, Catalogue: text.English(), StdoutWidth: func() int { return columns }, StdoutHeight: func() int { return 24 }}
	f.options = r.Options
	return newLive(sys, r.Test, hostile.Bytes, f)
}

// ownSequences are those that the program draws its live views with.
var ownSequences = regexp.MustCompile("\x1b\\[([0-9]+A|K|J)|\r")

func TestNothingLiveControlsTheTerminal(t *testing.T) {
	t.Parallel()
	for _, r := range hostileResults() {
		for _, f := range []*measureFlags{{}, {jsonStream: true}} {
			var b bytes.Buffer
			l := hostileLive(&b, r, 100, f)
			p := measure.Progress{}
			hostile.Fill(&p, hostile.Bytes)
			step := measure.MTUStep{}
			hostile.Fill(&step, hostile.Bytes)
			for _, state := range []string{wire.Queued, hostile.Bytes} {
				l.state(wire.State{Name: state, Position: 7})
			}
			l.observe(p)
			l.trace(r.Trace)
			l.mtu(step)
			l.view.end(nil)
			l.search.clear()
			hostile.Clean(t, fmt.Sprintf("live %s, JSON %v", r.Test, f.jsonStream), ownSequences.ReplaceAllString(b.String(), ""))
		}
	}
}

func TestNoEventOfACampaignControlsTheTerminal(t *testing.T) {
	t.Parallel()
	failure := &measure.Error{}
	hostile.Fill(failure, hostile.Bytes)
	for _, r := range hostileResults() {
		for _, width := range []int{0, 100} {
			var b bytes.Buffer
			p := &progress{w: &b, catalogue: text.English(), width: func() int { return width }}
			command := journal.CommandRecord{}
			hostile.Fill(&command, hostile.Bytes)
			job := schedule.Job{Trial: *r.Trial}
			live := measure.Progress{}
			hostile.Fill(&live, hostile.Bytes)
			for _, kind := range []campaign.EventKind{
				campaign.EventCommand, campaign.EventCommandDone, campaign.EventTrial, campaign.EventProgress, campaign.EventResult, campaign.EventHostGone, campaign.EventConflict,
			} {
				p.event(campaign.Event{Kind: kind, Job: &job, Result: r, Command: &command, Progress: &live, Error: failure})
			}
			p.clear()
			hostile.Clean(t, fmt.Sprintf("campaign on %d columns", width), ownSequences.ReplaceAllString(b.String(), ""))
		}
	}
}

func TestNothingInTheStoreControlsTheTerminal(t *testing.T) {
	t.Parallel()
	sys, out, errs := fakeSystem(t)
	sys.Append = func(string) (io.WriteCloser, error) { return os.OpenFile(os.DevNull, os.O_WRONLY, 0) }
	st, err := openStore(context.Background(), sys, "")
	if err != nil {
		t.Fatal(err)
	}
	c := store.Campaign{}
	hostile.Fill(&c, hostile.Text)
	c.ID, c.StartedAt, c.FinishedAt = "c"+hostile.Text, time.Unix(1, 0), time.Unix(2, 0)
	c.Plan, _, _ = strings.Cut(hostile.Text, hostile.Forged) // it is shown with its lines
	if err := st.PutCampaign(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	results := hostileResults()
	for i, r := range results {
		if i%2 == 1 {
			r.Trial = nil // by hand
		}
		if err := st.Put(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"ls", "-n", "0"}, {"ls", "-n", "0", "--json"}, {"ls", "--campaigns"}, {"ls", "--campaigns", "--json"}, {"ls", "--campaign", hostile.Text},
		{"show", "last"}, {"show", results[0].ID}, {"show", results[0].ID, "--json"}, {"show", hostile.Bytes}, {hostile.Bytes}, {"ls", "--test", hostile.Bytes},
		{"report"}, {"report", "--format", "md"}, {"report", "--format", "csv"}, {"report", "--format", "json"}, {"report", "--format", "html"},
		{"report", hostile.Bytes}, {"report", "--runs", "9"}, {"plan", hostile.Text}, {"ingest", "--campaign", hostile.Text, hostile.Text},
		{"tcp", hostile.Text}, {"tcp", "127.0.0.1", "-b", hostile.Text}, {"tcp", "--" + hostile.Text}, {"lab", "up", hostile.Text}, {"iperf3", "-c", hostile.Bytes}, {"ethr", "-c", hostile.Bytes}, {"ntttcp", "-P", hostile.Bytes}, {"ntttcp", "-s", "-N", hostile.Bytes, "-t", hostile.Bytes},
	} {
		out.Reset()
		errs.Reset()
		sys.StdoutWidth = func() int { return 80 }
		// Without the filter of Run, which is the last line of defence.
		root := Soku.newRoot(sys)
		root.SetArgs(args)
		root.SetOut(sys.Stdout)
		root.SetErr(sys.Stderr)
		if run, rest := asDropIn(&System{Args: args, Called: "soku"}); run != nil {
			run(t.Context(), sys, rest)
		} else if err := root.ExecuteContext(t.Context()); err != nil {
			printError(sys.Catalogue, sys.Stderr, err)
		}
		hostile.Clean(t, fmt.Sprintf("%.30q", args), out.String())
		hostile.Clean(t, fmt.Sprintf("stderr of %.30q", args), errs.String())
		if out.Len() == 0 && errs.String() == "" {
			t.Errorf("%q prints nothing", args)
		}
	}
}

// Cases without a test of their own meet the filter before standard output and standard error.
func TestNothingPassesTheOutputsUnfiltered(t *testing.T) {
	sys, out, errs := fakeSystem(t)
	f, _ := filtered(sys)
	for _, w := range []io.Writer{f.Stdout, f.Stderr} {
		fmt.Fprintln(w, hostile.Bytes)
	}
	for _, output := range []string{out.String(), errs.String()} {
		if len(output) < len("a]0;x") {
			t.Errorf("%q", output)
		}
		if regexp.MustCompile("[\x00-\x08\x0b-\x1f\x7f-\u009f\u202a-\u202e\u2066-\u2069]").MatchString(output) {
			t.Errorf("%q", output)
		}
	}
}

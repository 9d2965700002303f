package campaign_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"soku/internal/campaign"
	"soku/internal/campaign/advice"
	"soku/internal/campaign/journal"
	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/store/memory"

	"github.com/cockroachdb/datadriven"
)

// TestScenarios runs the scripts in testdata/scenarios. Each shows one behaviour of a campaign:
// a plan, what happens on its hosts, and what is started and recorded because of that.
// CONTRIBUTING.md explains how to read and write a script; -update writes the expected lines.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/scenarios/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts, error %v", len(files), err)
	}
	if *update {
		if err := flag.Set("rewrite", "true"); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScenario()
				defer s.leave()
				datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
					do := directives[d.Cmd]
					if do == nil {
						d.Fatalf(t, "unknown command %q", d.Cmd)
					}
					if err := do(s, words(d), d.Input); err != nil {
						d.Fatalf(t, "%s: %v", d.Cmd, err)
					}
					return s.printed()
				})
			})
		})
	}
}

// directives are the commands of a script, with the words after the command and the lines
// below it. An error is one in the script.
var directives = map[string]func(s *scenario, args []string, input string) error{
	"plan":      (*scenario).setPlan,
	"edit":      (*scenario).editPlan,
	"order":     (*scenario).printOrder,
	"given":     (*scenario).setRules,
	"run":       (*scenario).start,
	"wait":      (*scenario).wait,
	"finish":    (*scenario).finishTrial,
	"fail":      (*scenario).failTrial,
	"lose":      (*scenario).loseHost,
	"back":      (*scenario).hostBack,
	"interrupt": (*scenario).interrupt,
	"kill":      (*scenario).kill,
	"resume":    (*scenario).resume,
	"add":       (*scenario).addRounds,
	"empty":     (*scenario).emptyStore,
	"journal":   (*scenario).printJournal,
	"results":   (*scenario).printResults,
	"list":      (*scenario).printEntry,
}

// words are the words after the command as they were written.
func words(d *datadriven.TestData) (out []string) {
	for _, a := range d.CmdArgs {
		word := a.Key
		if len(a.Vals) > 0 {
			word += "=" + strings.Join(a.Vals, ",")
		}
		out = append(out, word)
	}
	return out
}

// scenario is a campaign, the place where its trials run and the script's view of both. The
// script's goroutine alone uses what is above mu.
type scenario struct {
	begin    time.Time
	text     string // of the plan
	plan     *plan.Plan
	journals *journal.Memory
	store    store.Store
	campaign *campaign.Campaign
	process  *process // nil: none runs

	mu      sync.Mutex
	rules   []*rule
	holding map[string]chan verdict // trials that wait for the script, by name
	held    chan struct{}           // one element for each trial that began to wait
	lines   []line
}

// process is a program that works on the campaign.
type process struct {
	store.Store
	dead  atomic.Bool // killed: what it writes is lost
	stop  context.CancelCauseFunc
	hosts chan campaign.HostChange
	ended chan struct{}
	brief bool // its trials are not printed
	plan  *plan.Plan
}

func newScenario() *scenario {
	return &scenario{begin: time.Now(), journals: new(journal.Memory), store: memory.New(),
		holding: map[string]chan verdict{}, held: make(chan struct{}, 1000)}
}

// line is something that happened. Trials that begin or end at the same moment have no order
// of their own: consecutive lines of a moment with ranks are sorted by rank and text.
type line struct {
	at   time.Time
	rank int
	text string
}

// Ranks of lines about trials.
const (
	rankStopped = iota + 1
	rankEnded
	rankOpens
	rankStarts
)

func (s *scenario) say(rank int, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, line{time.Now(), rank, fmt.Sprintf(format, args...)})
}

// sorted puts the lines of one moment into an order that does not depend on goroutines.
func sorted(lines []line) []line {
	for i := 0; i < len(lines); {
		j := i + 1
		for ; j < len(lines) && lines[i].rank > 0 && lines[j].rank > 0 && lines[j].at.Equal(lines[i].at); j++ {
		}
		slices.SortStableFunc(lines[i:j], func(a, b line) int {
			return cmp.Or(cmp.Compare(a.rank, b.rank), strings.Compare(a.text, b.text))
		})
		i = j
	}
	return lines
}

// printed is what happened since the last command, with the time since the script began.
func (s *scenario) printed() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out strings.Builder
	for _, l := range sorted(s.lines) {
		at := ""
		if !l.at.IsZero() {
			at = fmt.Sprintf("%7s  ", l.at.Sub(s.begin))
		}
		fmt.Fprintf(&out, "%s%s\n", at, l.text)
	}
	s.lines = nil
	return out.String()
}

// note is a line without a time.
func (s *scenario) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, line{text: fmt.Sprintf(format, args...)})
}

func (s *scenario) setPlan(_ []string, input string) error {
	p, err := plan.Parse("plan.yaml", []byte(input+"\n"))
	if err != nil {
		return err
	}
	s.text, s.plan = input+"\n", p
	e := advice.EstimateOf(p, nil)
	text := fmt.Sprintf("patterns %d, trials %d", e.Patterns, e.Trials)
	if e.FewestTrials > 0 && e.FewestTrials != e.Trials {
		text = fmt.Sprintf("patterns %d, trials %d to %d", e.Patterns, e.FewestTrials, e.Trials)
	}
	if s.plan.Pairs != nil {
		text += fmt.Sprintf(", pairs %d, at once %d", e.Pairs, e.AtOnce)
	}
	s.note("%s", text)
	return nil
}

// editPlan replaces "old => new" in the plan and appends what follows "+".
func (s *scenario) editPlan(_ []string, input string) error {
	text := s.text
	for l := range strings.Lines(input) {
		l = strings.TrimSuffix(l, "\n")
		if more, appends := strings.CutPrefix(l, "+ "); appends {
			text += more + "\n"
			continue
		}
		old, now, ok := strings.Cut(l, " => ")
		if !ok || strings.Count(text, old) != 1 {
			return fmt.Errorf("%q is neither \"+ line\" nor \"old => new\" with an old text that the plan has once", l)
		}
		text = strings.Replace(text, old, now, 1)
	}
	return s.setPlan(nil, strings.TrimSuffix(text, "\n"))
}

// printOrder prints the schedule of the plan, a line for each turn of a pattern.
func (s *scenario) printOrder(_ []string, _ string) error {
	seed := int64(42)
	if s.plan.Seed != nil {
		seed = *s.plan.Seed
	}
	for b := range schedule.Blocks(s.plan, "c", seed) {
		var trials []string
		for j := range b.Jobs() {
			trials = append(trials, strings.TrimPrefix(s.name(s.plan, j.Key()), fmt.Sprintf("r%d ", b.Round)))
		}
		s.note("round %d: %s", b.Round, strings.Join(trials, ", "))
	}
	return nil
}

// start begins a new campaign and lets it run, see work.
func (s *scenario) start(args []string, _ string) error {
	s.leave()
	s.begin, s.journals, s.store = time.Now(), new(journal.Memory), memory.New()
	c, err := campaign.CreateAs("study-1", s.journals, s.plan, 42, "test", time.Now())
	if err != nil {
		return err
	}
	s.campaign = c
	return s.work(args)
}

// resume opens the campaign again, with the plan as it is now, and goes on with it.
func (s *scenario) resume(args []string, _ string) error {
	if err := s.reopen(); err != nil {
		e := measure.AsError(err, measure.KindInternal)
		s.note("not resumed: %s: %s", e.Kind, e.Message)
		if e.Hint != "" {
			s.note("    %s", e.Hint)
		}
		return nil
	}
	return s.work(args)
}

func (s *scenario) reopen() error {
	id := s.campaign.ID()
	if err := s.campaign.Close(); err != nil {
		return err
	}
	c, err := campaign.Resume(s.journals, id, s.plan)
	if err != nil {
		return err
	}
	s.campaign = c
	if err := c.RaiseRounds(time.Now()); err != nil {
		return err
	}
	before := c.Missed()
	if err := c.MissRounds(time.Now()); err != nil {
		return err
	}
	if more := c.Missed() - before; more > 0 {
		s.note("%d rounds missed", more)
	}
	return nil
}

// work starts a process for the campaign. Its words are: for DURATION (then the script goes
// on), only FACTOR=LEVEL, retry-failed, patience DURATION, unattended (without a person), brief
// (print no trials).
func (s *scenario) work(args []string) error {
	if s.process != nil {
		return errors.New("the campaign runs")
	}
	ctx, stop := context.WithCancelCause(context.Background())
	p := &process{Store: s.store, stop: stop, hosts: make(chan campaign.HostChange, 100), ended: make(chan struct{}), plan: s.campaign.Plan}
	e := &campaign.Executor{Runner: place{s, p}, Store: p, Now: time.Now, Limit: s.plan.Concurrency(), Hosts: p.hosts, Version: "test",
		Command: place{s, p}.command, Confirm: place{s, p}.confirm, Watch: place{s, p}.watch}
	limit := time.Duration(-1)
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		if slices.Contains([]string{"for", "only", "patience", "without"}, word) && len(args) == 0 {
			return fmt.Errorf("nothing follows %q", word)
		}
		var err error
		switch word {
		case "for":
			limit, err = time.ParseDuration(args[0])
			args = args[1:]
		case "patience":
			e.Patience, err = time.ParseDuration(args[0])
			args = args[1:]
		case "only":
			e.Only, err = plan.ParseSelection(args[:1])
			args = args[1:]
		case "retry-failed":
			e.RetryFailed = true
		case "without":
			client, server, _ := strings.Cut(args[0], ">")
			e.Blocked = map[schedule.EndpointPair]*measure.Error{{Client: client, Server: server}: measure.AsError(readFailure([]string{"unreachable", "campaign.no_way"}), "")}
			args = args[1:]
		case "unattended":
			e.Confirm = nil
		case "brief":
			p.brief = true
		default:
			err = fmt.Errorf("unknown word %q", word)
		}
		if err != nil {
			return err
		}
	}
	s.process = p
	go func() {
		out, err := e.Run(ctx, s.campaign)
		if !p.dead.Load() {
			s.sayOutcome(out, err)
		}
		close(p.ended)
	}()
	s.proceed(limit)
	return nil
}

func (s *scenario) sayOutcome(out campaign.Outcome, err error) {
	why := "complete"
	if e := measure.AsError(err, measure.KindInternal); e != nil {
		why = fmt.Sprintf("%s: %s", e.Kind, e.Message)
	}
	text := fmt.Sprintf("trials %d, done %d", out.Total, out.Done)
	for _, n := range []struct {
		name  string
		count int
	}{{"failed", out.Failed}, {"skipped", out.Skipped}, {"left", out.Left}} {
		if n.count > 0 {
			text += fmt.Sprintf(", %s %d", n.name, n.count)
		}
	}
	if out.Ran != out.Done {
		text += fmt.Sprintf(", ran now %d", out.Ran)
	}
	s.say(0, "END %s", why)
	s.say(0, "    %s", text)
	if e := out.Enough; e != nil {
		s.say(0, "    %s", s.enoughText(e))
	}
}

// enoughText says how a campaign with until stands.
func (s *scenario) enoughText(e *campaign.Enough) string {
	text := fmt.Sprintf("rounds %d, enough", s.campaign.Rounds())
	if !e.Reached {
		text = strings.TrimSuffix(fmt.Sprintf("rounds %d, not enough: %s", s.campaign.Rounds(), e.Limit), ": ")
	}
	if e.Pattern != "" {
		text += fmt.Sprintf("; widest interval %.2f %% (%s)", 100*e.Ratio, e.Pattern)
	}
	if e.Compared > 0 {
		text += fmt.Sprintf("; comparisons open %d of %d", e.Open, e.Compared)
	}
	return text
}

// proceed lets time pass until the run has ended or a trial waits for the script, or for the
// given time if it is not negative.
func (s *scenario) proceed(limit time.Duration) {
	var over <-chan time.Time
	if limit >= 0 {
		over = time.After(limit)
	}
	for {
		synctest.Wait()
		s.mu.Lock()
		waits := len(s.holding) > 0
		s.mu.Unlock()
		if s.process == nil || over == nil && waits {
			return
		}
		select {
		case <-s.process.ended:
			s.process = nil
		case <-s.held:
		case <-over:
			synctest.Wait()
			return
		}
	}
}

// wait lets a time pass.
func (s *scenario) wait(args []string, _ string) error {
	limit := time.Duration(-1)
	if len(args) > 0 {
		var err error
		if limit, err = time.ParseDuration(args[0]); err != nil {
			return err
		}
	}
	if s.process == nil {
		time.Sleep(limit)
		return nil
	}
	s.proceed(limit)
	return nil
}

// loseHost reports that the host of the first word went away, for the reason that follows.
func (s *scenario) loseHost(args []string, _ string) error {
	if s.process == nil || len(args) < 2 {
		return errors.New("lose HOST REASON, while the campaign runs")
	}
	s.process.hosts <- campaign.HostChange{Host: args[0], Gone: errors.New(strings.Join(args[1:], " "))}
	synctest.Wait()
	return nil
}

func (s *scenario) hostBack(args []string, _ string) error {
	if s.process == nil || len(args) != 1 {
		return errors.New("back HOST, while the campaign runs")
	}
	s.process.hosts <- campaign.HostChange{Host: args[0]}
	synctest.Wait()
	return nil
}

// interrupt ends the run as Ctrl-C does.
func (s *scenario) interrupt(_ []string, _ string) error {
	if s.process == nil {
		return errors.New("the campaign does not run")
	}
	s.process.stop(measure.TextError(measure.KindInterrupted, "interrupted", ""))
	<-s.process.ended
	s.process = nil
	return nil
}

// kill ends the process as kill -9 does: journal and store keep what they have. With "torn"
// the journal ends with a part of a record.
func (s *scenario) kill(args []string, _ string) error {
	if s.process == nil {
		return errors.New("the campaign does not run")
	}
	id := s.campaign.ID()
	text := s.journals.Bytes(id)
	if slices.Contains(args, "torn") {
		text = append(text, `{"record":"trial_fini`...)
	}
	s.process.dead.Store(true)
	s.process.stop(errors.New("killed"))
	<-s.process.ended
	s.process = nil
	s.journals = new(journal.Memory)
	_, err := s.journals.Adopt(id, bytes.NewReader(text))
	return err
}

// leave ends what the script left running.
func (s *scenario) leave() {
	if s.process != nil {
		_ = s.interrupt(nil, "")
	}
	if s.campaign != nil {
		_ = s.campaign.Close()
	}
}

func (s *scenario) addRounds(args []string, _ string) error {
	var n int
	if _, err := fmt.Sscanf(strings.Join(args, " "), "rounds %d", &n); err != nil {
		return errors.New("add rounds N")
	}
	if err := s.campaign.AddRounds(n, time.Now()); err != nil {
		s.note("not added: %s", measure.AsError(err, measure.KindInternal).Message)
		return nil
	}
	s.note("rounds %d, trials %d", s.campaign.Rounds(), s.campaign.Trials())
	return nil
}

// emptyStore gives the campaign a new store.
func (s *scenario) emptyStore(_ []string, _ string) error {
	s.store = memory.New()
	return nil
}

// printJournal prints the records of the given kinds, of all kinds without any: only what says
// what happened to a trial or a run.
func (s *scenario) printJournal(kinds []string, _ string) error {
	return s.journals.Read(s.campaign.ID(), func(r journal.Record) error {
		if len(kinds) > 0 && !slices.Contains(kinds, r.Kind) {
			return nil
		}
		rank := map[string]int{journal.RecordTrialFinished: rankEnded, journal.RecordGroupFinished: rankEnded,
			journal.RecordTrialDropped: rankEnded, journal.RecordTrialStarted: rankStarts}[r.Kind]
		l := line{r.At, rank, strings.Join(slices.DeleteFunc([]string{r.Kind, s.recorded(r), r.Code}, func(s string) bool { return s == "" }), " ")}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.lines = append(s.lines, l)
		return nil
	})
}

// recorded are the members of a record that its kind is about.
func (s *scenario) recorded(r journal.Record) string {
	switch {
	case r.Plan != nil:
		return fmt.Sprintf("trials %d", r.Plan.Trials)
	case r.Run != nil:
		return fmt.Sprintf("session %d", r.Run.Session.Number)
	case len(r.Group) > 0:
		var trials []string
		for _, f := range r.Group {
			trials = append(trials, s.name(s.plan, *f.Trial)+failure(f.Result.Error))
		}
		slices.Sort(trials)
		return strings.Join(trials, ", ")
	case r.Result != nil:
		return s.name(s.plan, *r.Trial) + failure(r.Result.Error)
	case r.Trial != nil:
		return s.name(s.plan, *r.Trial)
	case r.Abort != nil:
		return fmt.Sprintf("%s>%s after failures %d", r.Abort.Client, r.Abort.Server, r.Abort.Failures)
	case r.Command != nil:
		return strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Command.When, r.Command.Text, r.Command.Error))
	case r.Change != nil:
		return fmt.Sprintf("%s confirmed at %s", levelsText(r.Change.Levels), r.Change.How)
	case r.Rounds > 0:
		return fmt.Sprintf("rounds %d, trials %d", r.Rounds, r.Trials)
	case r.Trials > 0:
		return fmt.Sprintf("trials %d", r.Trials)
	}
	return ""
}

func failure(e *measure.Error) string {
	if e == nil {
		return ""
	}
	return " failed " + cmp.Or(e.Code, string(e.Kind))
}

// printResults prints the results in the store whose trials have all of the words, in
// alphabetical order, or with "count" first how many there are.
func (s *scenario) printResults(args []string, _ string) error {
	var out []string
	count := len(args) > 0 && args[0] == "count"
	if count {
		args = args[1:]
	}
	for r, err := range s.store.Results(context.Background(), store.Query{Campaign: s.campaign.ID(), OldestFirst: true}, store.Whole) {
		if err != nil {
			return err
		}
		k := plan.TrialKey{Pattern: r.Trial.Pattern, Levels: r.Trial.Levels, Label: r.Trial.Label, Round: r.Trial.Round, Repeat: r.Trial.Repeat}
		if r.Trial.Pair != nil {
			k.Client, k.Server = r.Trial.Pair.Client.Name, r.Trial.Pair.Server.Name
		}
		if !hasAll(tokens(k), args) {
			continue
		}
		text := s.name(s.plan, k)
		if r.Error != nil {
			text += " failed: " + r.Error.Message
		}
		if g := r.Trial.Group; g != nil && g.StartSkewNs != nil {
			text += fmt.Sprintf(" started %s after the first of %d", time.Duration(*g.StartSkewNs), g.Trials)
			if g.StartSkewErrorNs > 0 {
				text += fmt.Sprintf(", ± %s", time.Duration(g.StartSkewErrorNs))
			}
		}
		out = append(out, text+codes(r))
	}
	if count {
		s.note("%d", len(out))
		return nil
	}
	slices.Sort(out)
	for i, text := range out {
		if i == 0 || text != out[i-1] {
			s.note("%s", text)
		} else {
			s.note("%s (again)", text)
		}
	}
	return nil
}

// codes are the codes of a result's findings.
func codes(r *measure.Result) string {
	text := ""
	for _, f := range r.Findings {
		text += fmt.Sprintf(" (%s)", f.Code)
	}
	return text
}

// printEntry prints what the store and the journal know of the campaign as a whole.
func (s *scenario) printEntry(_ []string, _ string) error {
	c, err := store.FindCampaign(context.Background(), s.store, s.campaign.ID())
	if err != nil {
		return err
	}
	state := "open"
	if !c.FinishedAt.IsZero() {
		state = "finished"
	}
	s.note("store: trials %d, done %d, failed %d, %s", c.Trials, c.Done, c.Failed, state)
	found, err := campaign.Find(s.journals, s.plan.Campaign)
	if err != nil || len(found) != 1 {
		return fmt.Errorf("%d journals, error %w", len(found), err)
	}
	state = "finished"
	if found[0].Open() {
		state = "open"
	}
	s.note("journal: trials %d, done %d, failed %d, %s", found[0].Trials, found[0].Done, found[0].Failed, state)
	return nil
}

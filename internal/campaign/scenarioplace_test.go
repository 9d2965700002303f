package campaign_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing/synctest"
	"time"

	"soku/internal/campaign"
	"soku/internal/campaign/journal"
	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
	"soku/internal/store"
)

// rule is a line of "given": how the trials behave whose names have all of the words before
// its colon. A later rule replaces what earlier ones say.
type rule struct {
	words   []string
	command string // the rule is about a before or after command or, as "person", about a person
	set     []func(*behaviour)
	times   int // how often it still holds; negative: always
}

// startError is the uncertainty of a start that is reported.
const startError = 2 * time.Millisecond

// behaviour is how a trial, a command or a person behaves.
type behaviour struct {
	takes   time.Duration // 0: the duration of the test
	opens   time.Duration // until its session is open
	never   bool          // its session does not open
	late    time.Duration // between its release and its first packet, reported within ± startError
	holds   bool          // ends when the script says so
	goodput float64
	noise   float64 // relative standard deviation of the goodput, the same for a trial whenever it runs
	bytes   int64
	every   time.Duration // bytes are those of each such time
	err     error
}

// verdict is how a trial ends that waited for the script.
type verdict struct {
	goodput float64
	err     error
}

// setRules reads the lines of "given":
//
//	WORDS: [takes D] [opens D | never opens] [late D] [waits] [goodput G] [noise P] [moves SIZE [every D]] [times N] [fails KIND CODE | fails KIND: TEXT]
//	command TEXT: [takes D] [fails KIND: TEXT]
//	person: leaves
func (s *scenario) setRules(_ []string, input string) error {
	var rules []*rule
	for l := range strings.Lines(input) {
		who, what, ok := strings.Cut(strings.TrimSuffix(l, "\n"), ": ")
		if !ok {
			return fmt.Errorf("no colon in %q", l)
		}
		r := &rule{words: strings.Fields(who), times: -1}
		if text, is := strings.CutPrefix(who, "command "); is {
			r.command = text
		} else if who == "person" {
			r.command = who
		} else if who == "all" {
			r.words = nil
		}
		if err := r.read(strings.Fields(what)); err != nil {
			return fmt.Errorf("%q: %w", l, err)
		}
		rules = append(rules, r)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = rules
	return nil
}

// read reads what follows the colon of a rule.
func (r *rule) read(list []string) (err error) {
	next := func() string {
		if len(list) == 0 {
			err = errors.New("a value is missing")
			return ""
		}
		word := list[0]
		list = list[1:]
		return word
	}
	set := func(f func(*behaviour)) { r.set = append(r.set, f) }
	duration := func() time.Duration {
		d, wrong := time.ParseDuration(next())
		err = errors.Join(err, wrong)
		return d
	}
	for len(list) > 0 && err == nil {
		switch word := next(); word {
		case "takes":
			d := duration()
			set(func(b *behaviour) { b.takes = d })
		case "opens":
			d := duration()
			set(func(b *behaviour) { b.opens = d })
		case "never":
			next() // opens
			set(func(b *behaviour) { b.never = true })
		case "late":
			d := duration()
			set(func(b *behaviour) { b.late = d })
		case "waits":
			set(func(b *behaviour) { b.holds = true })
		case "goodput":
			v, wrong := measure.ParseRate(next())
			err = wrong
			set(func(b *behaviour) { b.goodput = float64(v) })
		case "noise":
			v, wrong := measure.ParsePercent(next())
			err = wrong
			set(func(b *behaviour) { b.noise = float64(v) })
		case "moves":
			v, wrong := measure.ParseSize(next())
			err = wrong
			set(func(b *behaviour) { b.bytes, b.every = int64(v), 0 })
		case "every":
			d := duration()
			set(func(b *behaviour) { b.every = d })
		case "times":
			r.times, err = strconv.Atoi(next())
		case "leaves":
			set(func(b *behaviour) { b.err = errors.New("the person left") })
		case "fails":
			failed := readFailure(list)
			set(func(b *behaviour) { b.err = failed })
			list = nil
		default:
			return fmt.Errorf("unknown word %q", word)
		}
	}
	return err
}

// readFailure reads "KIND CODE", a failure that soku knows, or "KIND: TEXT".
func readFailure(list []string) error {
	if kind, text, ok := strings.Cut(strings.Join(list, " "), ": "); ok {
		return measure.TextError(measure.Kind(kind), text, "")
	}
	list = append(list, "", "")
	return measure.Fail(measure.Kind(list[0]), list[1], measure.Figures{"address": "10.0.0.9:7658", "host": "vm", "name": "bbr", "pair": "a → b", "back": "refused", "cause": "refused"})
}

// behaves is how what has these words behaves, by the rules.
func (s *scenario) behaves(command string, words []string) behaviour {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := behaviour{bytes: 1000, goodput: 1e9}
	for _, r := range s.rules {
		if r.command != command || command == "" && !hasAll(words, r.words) || r.times == 0 {
			continue
		}
		r.times--
		for _, f := range r.set {
			f(&b)
		}
	}
	return b
}

// tokens are the words by which a script chooses trials: round, levels, pattern, label,
// repeat, and the ends as a>b, a> and >b.
func tokens(k plan.TrialKey) []string {
	out := []string{fmt.Sprintf("r%d", k.Round), k.Label, fmt.Sprintf("#%d", k.Repeat), k.Pattern, k.Client + ">" + k.Server, k.Client + ">", ">" + k.Server}
	for _, l := range k.Levels {
		out = append(out, l.Value)
	}
	return out
}

func hasAll(have, want []string) bool {
	return !slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(have, w) })
}

// name is what scripts call a trial: the round, and of pattern, test, repeat and ends those
// that differ in the plan.
func (s *scenario) name(p *plan.Plan, k plan.TrialKey) string {
	text := fmt.Sprintf("r%d", k.Round)
	if len(p.AllPatterns()) > 1 {
		text += " " + k.Pattern
	}
	if len(p.Tests) > 1 {
		text += " " + k.Label
	}
	if p.Repeats > 1 || k.Repeat > 1 {
		text += fmt.Sprintf(" #%d", k.Repeat)
	}
	if p.Pairs != nil {
		text += " " + k.Client + ">" + k.Server
	}
	return text
}

// place is where the trials of a process run.
type place struct {
	*scenario
	process *process
}

// Run runs a trial as the rules say.
func (p place) Run(ctx context.Context, j schedule.Job, h campaign.Hooks) *measure.Result {
	key := j.Key()
	name := p.name(p.process.plan, key)
	b := p.behaves("", tokens(key))
	trial := j.Trial
	r := &measure.Result{Schema: measure.Schema, Test: j.Test, Trial: &trial, StartedAt: time.Now().UTC(), Options: j.Options}
	moved, err := p.measure(ctx, name, j, b, h)
	r.Flows = []measure.Flow{{Direction: measure.Forward, Summary: measure.Summary{SentBytes: moved.bytes, ReceivedBytes: moved.bytes}}}
	if r.Summary.GoodputBps = moved.goodput; b.noise > 0 {
		sum := fnv.New64a()
		_, _ = sum.Write([]byte(name))
		r.Summary.GoodputBps *= 1 + b.noise*rand.New(rand.NewPCG(sum.Sum64(), 1)).NormFloat64()
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
		p.trial(rankStopped, "%s stopped", name)
	}
	r.Error = measure.AsError(err, measure.KindBroken)
	return r
}

// moved is what a trial measured.
type moved struct {
	bytes   int64
	goodput float64
}

// measure goes through the time of a trial.
func (p place) measure(ctx context.Context, name string, j schedule.Job, b behaviour, h campaign.Hooks) (moved, error) {
	m := moved{b.bytes, b.goodput}
	if ctx.Err() != nil {
		return m, ctx.Err()
	}
	if h.Ready != nil {
		p.trial(rankOpens, "%s opens", name)
		if err := p.open(ctx, b, h); err != nil {
			return m, err
		}
	}
	p.trial(rankStarts, "%s starts", name)
	switch {
	case b.holds:
		v := p.hold(ctx, name)
		if v.goodput > 0 {
			m.goodput = v.goodput
		}
		return m, v.err
	case b.every > 0:
		m.bytes = 0
		for end := time.Now().Add(length(j, b)); ctx.Err() == nil && time.Now().Before(end); m.bytes += b.bytes {
			sleep(ctx, b.every)
			// Both ends report the same bytes, which count once.
			h.Progress(measure.Progress{Direction: measure.Forward, Role: measure.Sender, Bytes: b.bytes})
			h.Progress(measure.Progress{Direction: measure.Forward, Role: measure.Receiver, Bytes: b.bytes - 5})
		}
	default:
		sleep(ctx, length(j, b))
	}
	return m, b.err
}

// length is how long a trial takes: 1 s if it fails and the script does not say.
func length(j schedule.Job, b behaviour) time.Duration {
	switch {
	case b.takes > 0:
		return b.takes
	case b.err != nil || j.Options.Duration.Std() == 0:
		return time.Second
	}
	return j.Options.Duration.Std()
}

// open opens the session of a trial that belongs to a group, and waits for the others.
func (p place) open(ctx context.Context, b behaviour, h campaign.Hooks) error {
	if b.never {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	if b.err != nil && b.takes == 0 { // it fails before it is ready
		sleep(ctx, cmp.Or(b.opens, time.Second))
		return b.err
	}
	sleep(ctx, b.opens)
	if _, err := h.Ready(ctx, 0); err != nil {
		return err
	}
	if b.late > 0 {
		h.Started(time.Now().Add(b.late), startError)
	}
	return nil
}

// hold waits until the script ends the trial.
func (p place) hold(ctx context.Context, name string) verdict {
	ends := make(chan verdict, 1)
	p.mu.Lock()
	p.holding[name] = ends
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.holding, name)
	}()
	p.held <- struct{}{}
	select {
	case v := <-ends:
		return v
	case <-ctx.Done():
		return verdict{err: context.Cause(ctx)}
	}
}

// finishTrial ends a trial that waits for the script: finish TRIAL [GOODPUT].
func (s *scenario) finishTrial(args []string, _ string) error {
	rate, err := measure.ParseRate(args[len(args)-1])
	if err == nil && len(args) > 1 {
		return s.release(args[:len(args)-1], verdict{goodput: float64(rate)})
	}
	return s.release(args, verdict{})
}

// failTrial has a trial fail that waits for the script: fail TRIAL with KIND CODE, or KIND: TEXT.
func (s *scenario) failTrial(args []string, _ string) error {
	i := slices.Index(args, "with")
	if i < 0 {
		return errors.New("fail TRIAL with KIND CODE")
	}
	return s.release(args[:i], verdict{err: readFailure(args[i+1:])})
}

func (s *scenario) release(trial []string, v verdict) error {
	name := strings.Join(trial, " ")
	s.mu.Lock()
	ends := s.holding[name]
	delete(s.holding, name)
	s.mu.Unlock()
	if ends == nil {
		return fmt.Errorf("no trial %q waits", name)
	}
	ends <- v
	synctest.Wait()
	s.proceed(-1)
	return nil
}

// trial is a line about a trial.
func (p place) trial(rank int, format string, args ...any) {
	if !p.process.brief && !p.process.dead.Load() {
		p.say(rank, format, args...)
	}
}

// command runs a before or after command as the rules say.
func (p place) command(ctx context.Context, text string, env []string) ([]byte, error) {
	p.trial(0, "%s  %s", text, strings.Join(env[1:], " ")) // without SOKU_CAMPAIGN
	b := p.behaves(text, nil)
	if sleep(ctx, b.takes); ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, b.err
}

// confirm is the person who changes factors by hand.
func (p place) confirm(_ context.Context, c campaign.HandChange) (journal.Confirmed, error) {
	number := fmt.Sprint(c.Number)
	if c.Of > 0 { // 0: a search decides how many there are
		number += fmt.Sprintf(" of %d", c.Of)
	}
	p.say(0, "asks for %s (%s)", levelsText(c.Levels), number)
	return journal.Confirmed{How: journal.ConfirmedAtTerminal, User: "ann"}, p.behaves("person", nil).err
}

// watch prints the events of the executor that the place does not see.
func (p place) watch(e campaign.Event) {
	if p.process.dead.Load() {
		return
	}
	switch e.Kind {
	case campaign.EventResult:
		text := "done"
		if e.Result.Error != nil {
			text = "failed: " + e.Result.Error.Message
		}
		p.trial(rankEnded, "%s %s%s", p.name(p.process.plan, e.Job.Key()), text, codes(e.Result))
	case campaign.EventHostGone:
		p.say(0, "%s", e.Error.Message)
	case campaign.EventWaiting:
		p.trial(0, "waits for the server for up to %s: %s", e.Wait, e.Error.Message)
	case campaign.EventRoundAwaited:
		p.say(0, "r%d begins at %s, %d missed, %s left", e.Round, e.At.Sub(p.begin), e.Missed, e.Left)
	case campaign.EventRoundsMissed:
		p.say(0, "%d rounds missed", e.Missed)
	case campaign.EventAborted:
		p.say(0, "aborted: %s", e.Error.Message)
	}
}

// sleep waits, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

func levelsText(levels []measure.Level) string {
	var out []string
	for _, l := range levels {
		out = append(out, l.Factor+"="+l.Value)
	}
	return strings.Join(out, " ")
}

var errKilled = errors.New("killed")

// Put keeps results unless the process was killed.
func (p *process) Put(ctx context.Context, results ...*measure.Result) error {
	if p.dead.Load() {
		return errKilled
	}
	return p.Store.Put(ctx, results...)
}

// PutCampaign keeps the campaign unless the process was killed.
func (p *process) PutCampaign(ctx context.Context, c store.Campaign) error {
	if p.dead.Load() {
		return errKilled
	}
	return p.Store.PutCampaign(ctx, c)
}

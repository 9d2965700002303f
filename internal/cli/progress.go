package cli

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"time"

	"soku/internal/campaign"
	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
	"soku/internal/conduct"
	"soku/internal/measure"
	"soku/internal/printable"
	"soku/internal/store"
	"soku/internal/text"
	"soku/internal/text/messages"
)

// The beginning and the end of a line that is written over.
const (
	beginLine = printable.Sequence("\r")
	endLine   = printable.Sequence("\x1b[K")
)

// progress is the [conduct.Observer] that shows a campaign on the terminal: a line for each finished trial, and on a terminal below
// them one that is written over.
type progress struct {
	w         io.Writer
	catalogue *text.Catalogue
	width     func() int
	plan      *plan.Plan
	follow    func(campaign.Event) string // or nil: returns a line to print after some events
	pairs     bool                        // the plan has pairs: lines name them
	drawn     bool                        // a live line stands there
	running   map[string]*runningTrial
	failed    map[string]int // trials by the sentence of their failure
}

func newProgress(sys *System, plan *plan.Plan) *progress {
	return &progress{w: sys.Stderr, catalogue: sys.Catalogue, width: sys.Width, plan: plan, pairs: plan.HasPairs()}
}

// Begun implements [conduct.Observer].
func (p *progress) Begun(b conduct.Beginning) {
	switch b.Step {
	case conduct.StepResumed:
		p.printLine("run.resumed", text.Args{"Campaign": b.Campaign, "Others": b.Others})
	case conduct.StepRefilled:
		p.printLine("run.refilled", text.Args{"Campaign": b.Campaign, "Results": b.Results})
	case conduct.StepLab:
		p.printLine("lab.building", text.Args{"Lab": b.Lab})
	case conduct.StepHosts:
		p.printLine("run.hosts", text.Args{"Hosts": b.Hosts})
	case conduct.StepHost:
		h := b.Host
		args := text.Args{
			"Host": h.Name, "Platform": h.Platform, "Copied": h.Copied, "Lasted": h.Duration, "Port": h.Port,
			"Ahead": h.Offset >= 0, "Offset": h.Offset.Abs(), "Uncertainty": h.Uncertainty,
		}
		p.printLine("run.host", args)
		if h.PortTaken > 0 {
			p.printLine("run.host_port", text.Args{"Host": h.Name, "Port": h.Port, "Taken": h.PortTaken})
		}
		if h.ClockOff {
			p.printLine("run.host_clock", args)
		}
	case conduct.StepUnreachable:
		printError(p.catalogue, p.w, b.Error)
	case conduct.StepLeft:
		p.printLine("run.left", text.Args{"Campaign": b.Campaign, "Left": b.Left, "Trials": b.Trials, "Plan": p.plan.File})
	case conduct.StepCampaign:
		e, c := b.Estimate, b.Running
		done, _ := c.Done()
		p.printLine("progress.begin", text.Args{
			"Campaign": c.ID(), "Patterns": e.Patterns, "Pairs": e.Pairs, "AtOnce": e.AtOnce, "Trials": e.Trials, "AtMost": e.FewestTrials > 0, "Seed": c.Record.Seed, "Time": roughly(p.catalogue, e.Time), "Changes": e.HandChanges, "Done": done})
		if n := c.Missed(); n > 0 {
			p.printLine("progress.rounds_missed", text.Args{"Missed": n, "InAll": true})
		}
		for _, a := range c.Additions() {
			p.printLine("progress.added_levels", text.Args{"Levels": levelTexts(a.Levels), "First": a.FirstRound, "Last": c.Rounds(), "Before": a.FirstRound - 1})
		}
	}
}

func (p *progress) printLine(key string, args text.Args) {
	fmt.Fprintln(p.w, p.catalogue.Sentence(key, args))
}

// Trial implements [conduct.Observer].
func (p *progress) Trial(e campaign.Event) {
	p.event(e)
	if p.follow != nil {
		if line := p.follow(e); line != "" {
			p.print(line)
		}
	}
}

// Sample implements [conduct.Observer].
func (p *progress) Sample(e campaign.Event) { p.event(e) }

// Ended implements [conduct.Observer].
func (p *progress) Ended(e conduct.Ended) {
	p.end()
	p.sayEnough(e.Campaign, e.Outcome.Enough)
}

// event is called for every event of the campaign, one at a time.
func (p *progress) event(e campaign.Event) {
	switch e.Kind {
	case campaign.EventCommand:
		p.draw(e, e.Command.Pattern, "", p.catalogue.Sentence("progress.running", text.Args{"When": e.Command.When, "Command": e.Command.Text}))
	case campaign.EventCommandDone:
		if e.Error != nil {
			p.print(printable.Words(p.catalogue.Sentence("progress.command", text.Args{"Pattern": e.Command.Pattern, "When": e.Command.When, "Error": errorText(p.catalogue, e.Error)})))
		}
	case campaign.EventTrial:
		p.begin(e.Job)
		p.drawRunning(e)
	case campaign.EventProgress:
		if e.Progress.Role == measure.Sender && e.Progress.Retrans == nil {
			return // the receiver counts
		}
		p.begin(e.Job).add(*e.Progress)
		p.drawRunning(e)
	case campaign.EventResult:
		delete(p.running, runningKey(e.Job))
		p.finished(e)
	case campaign.EventWaiting:
		p.print(p.catalogue.Sentence("progress.waiting", text.Args{"Error": errorText(p.catalogue, e.Error), "Wait": e.Wait}))
	case campaign.EventRoundAwaited:
		p.print(p.catalogue.Sentence("progress.round_awaited", text.Args{"Round": e.Round, "At": moment(e.At), "Missed": e.Missed}))
	case campaign.EventRoundsMissed:
		p.print(p.catalogue.Sentence("progress.rounds_missed", text.Args{"Missed": e.Missed, "InAll": false}))
	case campaign.EventAborted:
		message, _ := p.catalogue.Error(e.Error)
		p.print(printable.Words(p.catalogue.Sentence("progress.aborted", text.Args{"Error": message})))
	case campaign.EventHostGone, campaign.EventConflict:
		message, _ := p.catalogue.Error(e.Error)
		p.print(printable.Words(message))
	}
}

func (p *progress) finished(e campaign.Event) {
	t := e.Result.Trial
	if e.Result.Error != nil && p.again(e) {
		return
	}
	name := p.name(e.Job)
	args := text.Args{"Counter": counter(e), "Pattern": printable.Words(name), "Test": printable.Words(t.Label), "Headline": headline(p.catalogue, store.EntryOf(e.Result)), "Error": ""}
	if e.Result.Error != nil {
		args["Error"] = errorText(p.catalogue, e.Result.Error)
	}
	width := p.width()
	if width <= 0 || e.Result.Error != nil { // why a trial failed is not cut
		p.print(p.catalogue.Sentence("progress.result", args))
		return
	}
	p.print(liveLine(name, width-1, func(pattern string) string {
		args["Pattern"] = printable.Words(pattern)
		return p.catalogue.Sentence("progress.result", args)
	}))
}

// again counts failures and reports whether one of the same sentence was shown before.
func (p *progress) again(e campaign.Event) bool {
	if p.failed == nil {
		p.failed = map[string]int{}
	}
	sentence := errorText(p.catalogue, e.Result.Error)
	p.failed[sentence]++
	switch {
	case p.failed[sentence] == 1:
		return false
	case p.width() > 0:
		p.draw(e, p.name(e.Job), e.Result.Trial.Label, "")
	default:
		p.print(p.catalogue.Sentence("progress.again", text.Args{"Counter": counter(e), "Pattern": printable.Words(p.name(e.Job)), "Test": printable.Words(e.Result.Trial.Label), "Trials": p.failed[sentence]}))
	}
	return true
}

// end takes the live line away and shows how many trials failed alike.
func (p *progress) end() {
	p.clear()
	for _, sentence := range slices.Sorted(maps.Keys(p.failed)) {
		if n := p.failed[sentence]; n > 1 {
			p.print(p.catalogue.Sentence("progress.alike", text.Args{"Trials": n, "Error": sentence}))
		}
	}
}

func counter(e campaign.Event) string {
	return fmt.Sprintf("[%*d/%d]", len(fmt.Sprint(e.Total)), e.Done, e.Total)
}

// draw writes the live line anew.
func (p *progress) draw(e campaign.Event, pattern, label, figure string) {
	width := p.width()
	if width <= 0 {
		return
	}
	line := liveLine(pattern, width-1, func(pattern string) string { // the last column would wrap
		return p.catalogue.Sentence("progress.live", text.Args{
			"Counter": counter(e), "Pattern": pattern, "Label": label, "Running": len(p.running), "Figure": figure, "Failed": e.Failed, "Left": leftText(p.catalogue, e.Left), "Width": e.Width, "Open": e.Open, "Compared": e.Compared,
		})
	})
	printable.Draw(p.w, beginLine, line, endLine)
	p.drawn = true
}

// liveLine is a line of at most that many columns about something with a name: what say
// makes of the name. The name is cut first, down to eight columns, then the end of the line.
func liveLine(name string, width int, say func(name string) string) string {
	room := width - terminal.StringWidth(printable.Line(say("")))
	name = terminal.Truncate(printable.Line(name), max(room, min(8, width)), "…")
	return terminal.Truncate(printable.Line(say(name)), width, "…")
}

// print writes a line that stays.
func (p *progress) print(line string) {
	p.clear()
	fmt.Fprintln(p.w, printable.Line(line))
}

// clear takes the live line away.
func (p *progress) clear() {
	if p.drawn {
		printable.Draw(p.w, beginLine, endLine)
		p.drawn = false
	}
}

// leftText is the remaining time, empty if it is unknown.
func leftText(c *text.Catalogue, d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return roughly(c, d)
}

// roughly writes how long something takes as people say it: 8 s, 12 min, 3 h 20 min.
func roughly(c *text.Catalogue, d time.Duration) string {
	switch {
	case d < 100*time.Second:
		return c.Sentence("roughly.seconds", text.Args{"Seconds": max(d.Seconds(), 1)})
	case d < 100*time.Minute:
		return c.Sentence("roughly.minutes", text.Args{"Minutes": d.Minutes()})
	case d < 48*time.Hour:
		d = d.Round(10 * time.Minute)
		return c.Sentence("roughly.hours", text.Args{"Hours": int(d.Hours()), "Minutes": int(d.Minutes()) % 60})
	}
	return c.Sentence("roughly.days", text.Args{"Days": d.Hours() / 24})
}

// sayEnough says whether a campaign whose plan has until has enough rounds, and why not.
func (p *progress) sayEnough(c *campaign.Campaign, e *campaign.Enough) {
	if e == nil {
		return
	}
	u := c.Plan.Until
	limits := text.Args{"Rounds": c.Rounds(), "MaxRounds": u.MaxRounds, "MaxTime": c.Plan.Budget.Time, "Limit": e.Limit}
	if u.Interval > 0 {
		args := text.Args{"Interval": float64(u.Interval), "Width": e.Ratio, "Pattern": e.Pattern, "Label": e.Label, "Reached": e.Narrow}
		if math.IsInf(e.Ratio, 0) {
			args["Width"] = 0.0
		}
		maps.Copy(args, limits)
		p.printLine("run.until", args)
	}
	if u.Decided && (u.Interval == 0 || e.Limit != campaign.LimitFailed) {
		args := text.Args{"Compared": e.Compared, "Open": e.Open, "A": e.A, "B": e.B, "Label": e.OpenLabel}
		maps.Copy(args, limits)
		p.printLine("run.until_decided", args)
	}
}

// runningTrial is a trial of a campaign while it runs.
type runningTrial struct {
	label  string
	rates  map[measure.Direction]float64 // bit/s, the latest
	figure string                        // of one that has no rate
}

// add takes note of a live interval.
func (r *runningTrial) add(i measure.Progress) {
	if i.RTT != nil {
		r.figure = messages.FormatLatency(i.RTT.P50)
		return
	}
	if r.rates == nil {
		r.rates = map[measure.Direction]float64{}
	}
	r.rates[i.Direction] = i.Bps
}

// runningKey distinguishes trials that run concurrently.
func runningKey(j *schedule.Job) string {
	return fmt.Sprint(j.Client.Reference(), ">", j.Server.Reference(), " ", j.Trial.Repeat, " ", j.Trial.Label)
}

// begin is what is known of a trial that runs.
func (p *progress) begin(j *schedule.Job) *runningTrial {
	key := runningKey(j)
	r := p.running[key]
	if r == nil {
		r = &runningTrial{label: j.Trial.Label}
		if p.running == nil {
			p.running = map[string]*runningTrial{}
		}
		p.running[key] = r
	}
	return r
}

// name is the pattern of a trial, and its pair if the plan has pairs. A plan without
// factors has one pattern, whose name says nothing.
func (p *progress) name(j *schedule.Job) string {
	if !p.pairs {
		return j.Trial.Pattern
	}
	pair := j.Client.Reference() + " → " + j.Server.Reference()
	if len(j.Trial.Levels) == 0 {
		return pair
	}
	return j.Trial.Pattern + ", " + pair
}

// drawRunning writes the live line of what runs: of one trial its name and figure, of
// several their pattern, their number and the sum of their rates.
func (p *progress) drawRunning(e campaign.Event) {
	name, label, figure := p.name(e.Job), e.Job.Trial.Label, ""
	if len(p.running) > 1 {
		name = e.Job.Trial.Pattern
	}
	var sum float64
	for _, r := range p.running {
		if r.label != label {
			label = ""
		}
		for _, bps := range r.rates {
			sum += bps
		}
		if r.figure != "" && len(p.running) == 1 {
			figure = r.figure
		}
	}
	if figure == "" && sum > 0 {
		figure = messages.FormatRate(sum)
	}
	p.draw(e, name, label, figure)
}

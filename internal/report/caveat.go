package report

import (
	"cmp"
	"math"
	"slices"

	"soku/internal/measure/finding"
	"soku/internal/measure/metric"
	"soku/internal/stats"
	"soku/internal/text"
)

// Caveat is something that a reader must know before believing an answer, as data; its
// sentence is made where a report is written.
type Caveat struct {
	Code CaveatCode `json:"code"`
	// Trials are those that it is about, Of all trials of the test.
	Trials int `json:"trials,omitempty"`
	Of     int `json:"of,omitempty"`
	// OverheadNs is the mean of the loopback median over that many Readings.
	OverheadNs float64 `json:"overhead_ns,omitempty"`
	Readings   int     `json:"readings,omitempty"`
	// Runs are which run of the campaign measured which patterns.
	Runs []RunPatterns `json:"runs,omitempty"`
	// Factors are those of the plan that set nothing in the test, whose levels were on one
	// placement each, or that have levels with an effect in which rounds are alike.
	Factors []string `json:"factors,omitempty"`
	// Patterns are the first that were compared, beyond which there are Left, or that were not
	// measured, of which there are Left.
	Patterns []string `json:"patterns,omitempty"`
	Left     int      `json:"left,omitempty"`
	// Undecided is a difference that Rounds rounds do not show and Needed would.
	*Undecided
	// Wide is the widest interval, where the plan wants a narrower one.
	Wide *Wide `json:"wide,omitempty"`
	// RoundMeans is how many means of a pattern in a round it is about.
	RoundMeans int `json:"round_means,omitempty"`
	// OneIn is the N of modes that fewer than one trial in N has: Trials trials of a pattern do not
	// exclude them.
	OneIn float64 `json:"one_in,omitempty"`
	// Later are levels that were not in the first rounds.
	Later []LaterLevel `json:"later,omitempty"`
	// Decided is how the comparisons stand, of a campaign that goes on until all are decided.
	Decided *Decided `json:"decided,omitempty"`
}

// Undecided is a difference between two patterns of one rank that a few more rounds would
// show.
type Undecided struct {
	Pattern         string  `json:"pattern"`
	Than            string  `json:"than"`
	DifferenceRatio float64 `json:"difference_ratio"` // below 0: Pattern has less than Than
	Rounds          int     `json:"rounds"`           // in which both were compared
	NeededRounds    int     `json:"needed_rounds"`
}

// CaveatCode is the kind of a caveat.
type CaveatCode string

// The codes.
const (
	CaveatNoFigure        CaveatCode = "no_figure"            // trials succeeded without the figure that ranks and are not in it
	CaveatFailed          CaveatCode = "failed"               // trials failed and are not in the figures
	CaveatNotSteady       CaveatCode = "not_steady"           // throughput never became steady (medium confidence)
	CaveatTooShort        CaveatCode = "too_short"            // too short to judge whether it did (low confidence)
	CaveatFewForTail      CaveatCode = "few_for_tail"         // enough round trips for a median, too few for a 99th percentile (medium confidence)
	CaveatFew             CaveatCode = "few"                  // too few round trips for percentiles (low confidence)
	CaveatIngested        CaveatCode = "ingested"             // trials were ingested; the sources are in the test
	CaveatMissing         CaveatCode = "missing"              // what those do not have is in the test
	CaveatOrderUnknown    CaveatCode = "order_unknown"        // whether ingested trials were interleaved is unknown
	CaveatOrderStated     CaveatCode = "order_stated"         // ingested tables name the rounds; what was interleaved rests on them
	CaveatNotInterleaved  CaveatCode = "not_interleaved"      // trials run by hand
	CaveatDifferentRuns   CaveatCode = "different_runs"       // some patterns were never measured in one run of the campaign
	CaveatFewRounds       CaveatCode = "few_rounds"           // too few rounds to show a difference that some more would
	CaveatLaterLevels     CaveatCode = "later_levels"         // levels were not in the first rounds, as those that were added to a campaign
	CaveatWide            CaveatCode = "wide_interval"        // an interval is wider than the plan's until asks for
	CaveatDecided         CaveatCode = "decided"              // the campaign looked after every round whether its comparisons were decided; some may not be
	CaveatNotMeasured     CaveatCode = "not_measured"         // patterns of the plan have no trial
	CaveatPlacement       CaveatCode = "placement"            // each level of factors was on hosts of its own, which were never deployed again
	CaveatAlike           CaveatCode = "rounds_alike"         // neighbouring rounds are alike in differences that are stated
	CaveatUnvaried        CaveatCode = "unvaried"             // factors of the plan set nothing in this test and are not compared
	CaveatZeros           CaveatCode = "zeros"                // the figure is 0 in some rounds, so the effects of factors have no ratio
	CaveatRareModes       CaveatCode = "rare_modes"           // what makes no practical difference may do so in a rare mode
	CaveatMeasurementCost CaveatCode = "measurement_overhead" // what the tool and the host add to round trips
)

// CaveatCodes lists all of them.
func CaveatCodes() []CaveatCode {
	return []CaveatCode{
		CaveatNoFigure, CaveatFailed, CaveatNotSteady, CaveatTooShort, CaveatFewForTail, CaveatFew, CaveatIngested, CaveatMissing, CaveatOrderUnknown,
		CaveatOrderStated, CaveatNotInterleaved, CaveatDifferentRuns, CaveatFewRounds, CaveatLaterLevels, CaveatWide, CaveatDecided, CaveatNotMeasured, CaveatPlacement, CaveatAlike, CaveatUnvaried, CaveatZeros, CaveatRareModes, CaveatMeasurementCost,
	}
}

// findCaveats returns them in the order in which a reader gets them.
func (t *Test) findCaveats() []Caveat {
	trials, without, medium, low, ingested := len(t.Failures), 0, 0, 0, 0
	for _, r := range slices.Concat(t.Rows, t.ControlRows) {
		trials += r.Trials
		without += r.WithoutFigure
		medium += r.Confidence.Medium
		low += r.Confidence.Low
	}
	for _, s := range t.Ingested {
		ingested += s.Trials
	}
	succeeded := trials - len(t.Failures)
	var out []Caveat
	when := func(is bool, c Caveat) {
		if is {
			out = append(out, c)
		}
	}
	add := func(code CaveatCode, n, of int) { when(n > 0, Caveat{Code: code, Trials: n, Of: of}) }
	add(CaveatNoFigure, without, trials)
	add(CaveatFailed, len(t.Failures), trials)
	switch families := metric.Of(t.Test).Families; {
	case slices.Contains(families, metric.HopFamily): // finds hops with few probes on purpose
	case slices.Contains(families, metric.RoundTripFamily):
		add(CaveatFewForTail, medium, succeeded)
		add(CaveatFew, low, succeeded)
	default:
		add(CaveatNotSteady, medium, succeeded)
		add(CaveatTooShort, low, succeeded)
	}
	add(CaveatIngested, ingested, trials)
	if len(t.Missing) > 0 {
		add(CaveatMissing, ingested, trials)
	}
	if t.Rounds > 1 {
		add(CaveatOrderUnknown, ingested-t.stated, trials)
		add(CaveatOrderStated, t.stated, trials)
	}
	undecided, unmeasured := t.undecided(), len(t.NotMeasured)
	placed := slices.DeleteFunc(slices.Clone(t.placed), func(f string) bool { return !t.showsDifference(f) })
	when(t.ByHand && len(t.Rows) > 1, Caveat{Code: CaveatNotInterleaved})
	when(len(t.Runs) > 0, Caveat{Code: CaveatDifferentRuns, Runs: t.Runs})
	when(undecided != nil, Caveat{Code: CaveatFewRounds, Undecided: undecided})
	when(len(t.later) > 0, Caveat{Code: CaveatLaterLevels, Later: t.later})
	when(t.wide != nil, Caveat{Code: CaveatWide, Wide: t.wide})
	when(t.decided != nil, Caveat{Code: CaveatDecided, Decided: t.decided})
	when(unmeasured > 0, Caveat{Code: CaveatNotMeasured, Patterns: t.NotMeasured[:min(unmeasured, mostPatterns)], Left: unmeasured})
	when(len(placed) > 0, Caveat{Code: CaveatPlacement, Factors: placed})
	patterns, factors := t.alikeRounds()
	when(len(patterns)+len(factors) > 0, Caveat{Code: CaveatAlike, Patterns: patterns[:min(len(patterns), mostPatterns)], Left: max(len(patterns)-mostPatterns, 0), Factors: factors})
	when(len(t.Unvaried) > 0, Caveat{Code: CaveatUnvaried, Factors: t.Unvaried})
	if n := t.fewestSame(); n > 0 {
		out = append(out, Caveat{Code: CaveatRareModes, Trials: n, OneIn: stats.RarestMode(n)})
	}
	when(t.zeros > 0, Caveat{Code: CaveatZeros, RoundMeans: t.zeros})
	if f := t.Floor; f != nil {
		out = append(out, Caveat{Code: CaveatMeasurementCost, OverheadNs: f.Mean, Readings: f.N})
	}
	return out
}

// alikeRounds are the patterns and factors of the decided comparisons in which neighbouring rounds are alike.
func (t *Test) alikeRounds() (patterns, factors []string) {
	for _, p := range t.Ranking {
		if p.alike {
			patterns = addOnce(addOnce(patterns, p.Reason.Text("than")), p.Pattern)
		}
	}
	for _, c := range t.Controls {
		if c.alike && c.Decision != stats.NotShown {
			patterns = addOnce(addOnce(patterns, c.Best), c.Pattern)
		}
	}
	for _, e := range t.Effects {
		if e.Alike && e.Decision != stats.NotShown {
			factors = addOnce(factors, e.Factor)
		}
	}
	for _, i := range t.Interactions {
		if i.Alike && i.Shown > 0 {
			factors = addOnce(addOnce(factors, i.Factors[0]), i.Factors[1])
		}
	}
	if t.Pairs != nil && t.Pairs.Contention != nil && slices.ContainsFunc(t.Pairs.Contention.Pairs, func(p PairContention) bool { return p.Alike && p.Decision != stats.NotShown }) {
		factors = addOnce(factors, contentionFactor)
	}
	return patterns, factors
}

// findWithoutFigure counts the trials that succeeded without the figure that ranks, if some have it.
func (t *Test) findWithoutFigure() {
	if !slices.ContainsFunc(t.Rows, func(r Row) bool { return len(r.Values) > 0 }) {
		return
	}
	for i := range t.Rows {
		t.Rows[i].WithoutFigure = t.Rows[i].Trials - len(t.Rows[i].Values)
	}
}

// fewestSame is the fewest trials of a pattern, if some patterns or levels are said to make no
// practical difference; otherwise 0.
func (t *Test) fewestSame() int {
	same := slices.ContainsFunc(t.Ranking, func(p Place) bool { return p.Same }) ||
		slices.ContainsFunc(t.Effects, func(e LevelEffect) bool { return e.Decision == stats.Same }) ||
		slices.ContainsFunc(t.Controls, func(c Control) bool { return c.Decision == stats.Same })
	fewest := 0
	for _, r := range t.Rows {
		if n := len(r.Values); same && n > 0 && (fewest == 0 || n < fewest) {
			fewest = n
		}
	}
	return fewest
}

// enoughRounds is how many rounds a comparison should have: from there on even a test
// without assumptions can show something at 5 %.
const enoughRounds = 6

// smallRatio is the size below which few readers act on a difference.
const smallRatio = 0.03

// undecided is the largest difference of a pattern among the best that is not small and that
// enoughRounds would show: the patterns share the rank because rounds are few, not because
// they are alike. nil if there is none.
func (t *Test) undecided() *Undecided {
	var out *Undecided
	for _, p := range t.Ranking {
		ratio, related := p.Reason.Number("difference_ratio")
		needed, few := p.Reason.Number("needed_rounds")
		if behind := p.RankLow > 0 && !p.Best; behind || p.Reason.Code != finding.RankNoDifference || !related || !few || needed > enoughRounds || math.Abs(ratio) < smallRatio {
			continue
		}
		if out == nil || math.Abs(ratio) > math.Abs(out.DifferenceRatio) {
			rounds, _ := p.Reason.Number("rounds")
			out = &Undecided{Pattern: p.Pattern, Than: p.Reason.Text("than"), DifferenceRatio: ratio, Rounds: int(rounds), NeededRounds: int(needed)}
		}
	}
	return out
}

// lesser are caveats of less weight for the answer than all others.
var lesser = []CaveatCode{CaveatNotSteady, CaveatTooShort, CaveatFewForTail, CaveatFew, CaveatUnvaried, CaveatRareModes, CaveatMeasurementCost}

// caveats are the sentences that stand below the answer, those of less weight last. What ingested
// trials do not have is said once for all tests.
func (t testView) caveats() (out []string) {
	var last []string
	for _, c := range t.Caveats {
		switch said := t.Capital(t.caveat(c)); {
		case c.Code == CaveatMissing:
		case slices.Contains(lesser, c.Code):
			last = append(last, said)
		default:
			out = append(out, said)
		}
	}
	return append(out, last...)
}

func (t testView) caveat(c Caveat) string {
	switch c.Code {
	case CaveatNoFigure:
		return t.Sentence("caveat.no_figure", text.Args{"N": c.Trials, "Of": c.Of})
	case CaveatRareModes:
		return t.Sentence("caveat.rare_modes", text.Args{"Trials": c.Trials, "OneIn": c.OneIn})
	case CaveatFailed:
		return t.Sentence("caveat.failed", text.Args{"N": c.Trials, "Of": c.Of})
	case CaveatNotSteady, CaveatTooShort, CaveatFewForTail, CaveatFew:
		return t.SentenceFor(t.test(), "caveat.confidence."+string(c.Code), text.Args{"Trials": c.Trials, "Of": c.Of})
	case CaveatIngested:
		return t.Sentence("caveat.ingested", text.Args{"N": c.Trials, "Of": c.Of, "Sources": t.sources()})
	case CaveatMissing:
		return missingFrom(c.Trials, t.Missing, t.Catalogue)
	case CaveatOrderUnknown:
		return t.Sentence("caveat.order_unknown", nil)
	case CaveatOrderStated:
		return t.Sentence("caveat.order_stated", nil)
	case CaveatDifferentRuns:
		return t.Sentence("caveat.different_runs", text.Args{"Runs": len(c.Runs)})
	case CaveatFewRounds:
		return t.Sentence("caveat.few_rounds", text.Args{"Pattern": t.called(c.Pattern), "Than": t.called(c.Than), "Ratio": c.DifferenceRatio, "Rounds": c.Rounds, "Needed": c.NeededRounds})
	case CaveatLaterLevels:
		return t.laterCaveat(c.Later)
	case CaveatWide:
		w := cmp.Or(c.Wide, &Wide{})
		return t.Sentence("caveat.wide_interval", text.Args{
			"Pattern": t.called(w.Pattern), "Width": w.IntervalRatio, "Wanted": w.WantedRatio, "Rounds": w.Rounds, "MaxRounds": w.MaxRounds,
		})
	case CaveatDecided:
		return t.decidedCaveat(cmp.Or(c.Decided, &Decided{}))
	case CaveatNotMeasured:
		return t.Sentence("caveat.not_measured", text.Args{"Patterns": c.Patterns, "N": c.Left, "More": c.Left - len(c.Patterns)})
	case CaveatPlacement:
		return t.Sentence("caveat.placement", text.Args{"Factors": c.Factors})
	case CaveatAlike:
		return t.Sentence("caveat.rounds_alike", text.Args{"Patterns": t.callEach(c.Patterns), "More": c.Left, "Factors": c.Factors})
	case CaveatUnvaried:
		return t.Sentence("caveat.unvaried", text.Args{"N": len(c.Factors), "Factors": c.Factors})
	case CaveatZeros:
		return t.Sentence("caveat.zeros", text.Args{"N": c.RoundMeans})
	case CaveatNotInterleaved:
		return t.Sentence("caveat.not_interleaved", nil)
	}
	return t.Sentence("caveat.measurement_overhead", text.Args{"Overhead": c.OverheadNs, "Readings": c.Readings})
}

// mostSources is how many sources a caveat names.
const mostSources = 4

// sources are where the ingested trials of the test came from.
func (t testView) sources() []string {
	var out []string
	for _, s := range t.Ingested {
		out = append(out, s.in(t.Catalogue))
	}
	if len(out) > mostSources {
		out = append(out[:mostSources], t.Sentence("caveat.other_sources", nil))
	}
	return out
}

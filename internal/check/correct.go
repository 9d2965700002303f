package check

import "math"

// correct withdraws verdicts that patterns do not hold, where they do not hold together: of many
// patterns that are exactly at a threshold some lie beyond it by chance. at judges all patterns at
// a confidence level.
//
// It is Holm's procedure (S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure",
// Scandinavian Journal of Statistics 6, 1979) by intervals: of n patterns those count whose
// interval at the error probability alpha/n lies beyond the threshold; once k of them do, those at
// alpha/(n-k). That a pattern holds needs no correction, because a rule holds if all of its patterns
// do: to say so falsely, the pattern that does not hold must be misjudged by itself (R. L. Berger,
// "Multiparameter Hypothesis Testing and Acceptance Sampling", Technometrics 24, 1982).
func (e *Expression) correct(judged []Judgement, at func(level float64) []Judgement) {
	tested := testedIn(judged)
	if tested < 2 {
		return
	}
	confirmed := map[int]bool{}
	for before := -1; before < len(confirmed); {
		before = len(confirmed)
		level := 1 - (1-e.Level)/float64(tested-before)
		again := at(level)
		for i, j := range judged {
			if j.tested() && j.Verdict == DoesNotHold && !confirmed[i] && again[i].Verdict == DoesNotHold {
				confirmed[i] = true
			}
		}
	}
	for i := range judged {
		if j := &judged[i]; j.tested() && j.Verdict == DoesNotHold && !confirmed[i] {
			j.Verdict, j.Reason = NotShown, Chance
		}
	}
}

// tested reports whether the judgement rests on an interval.
func (j *Judgement) tested() bool { return !math.IsNaN(j.Low) && !math.IsNaN(j.High) }

// testedIn is how many judgements rest on an interval.
func testedIn(judged []Judgement) (n int) {
	for i := range judged {
		if judged[i].tested() {
			n++
		}
	}
	return n
}

package native

import (
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

func TestSentencesOfAServerOfAnEarlierVersionAreFindings(t *testing.T) {
	got := presentableFindings(nil, []string{"the server lowered the rate", "tab\there"})
	if len(got) != 2 || !got[0].Equal(measure.TextFinding("the server lowered the rate")) || !got[1].Equal(measure.TextFinding("tab here")) {
		t.Errorf("%+v", got)
	}
	known := measure.Findings{measure.NewFinding(finding.NotPinned, measure.AtServer, nil)}
	if got := presentableFindings(known, []string{"the same"}); len(got) != 1 || !got[0].Equal(measure.NewFinding(finding.NotPinned, measure.AtServer, nil)) {
		t.Errorf("%+v", got)
	}
}

func TestFindingsOfAServerAreBounded(t *testing.T) {
	long := "\x1b[2J" + strings.Repeat("x", 10_000)
	figures := measure.Figures{long: long}
	for i := range 100 {
		figures[strings.Repeat("k", i+1)] = 1.0
	}
	many := make(measure.Findings, 1000)
	for i := range many {
		many[i] = measure.Finding{Code: finding.Code(long), Severity: finding.Severity(long), Where: measure.Where(long), Figures: figures, Cause: measure.TextError(measure.KindBroken, long, long)}
	}
	got := presentableFindings(many, nil)
	if len(got) != mostFindings {
		t.Errorf("%d findings", len(got))
	}
	for _, f := range got[:1] {
		texts := []string{string(f.Code), string(f.Severity), string(f.Where), f.Cause.Message, f.Cause.Hint}
		for key, value := range f.Figures {
			texts = append(texts, key)
			if s, is := value.(string); is {
				texts = append(texts, s)
			}
		}
		if len(f.Figures) > mostFigures || f.Severity != finding.Warning {
			t.Errorf("%d figures, severity %q", len(f.Figures), f.Severity)
		}
		for _, s := range texts {
			if len(s) > 510 || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' }) {
				t.Errorf("%d bytes: %.40q", len(s), s)
			}
		}
	}
	sentences := make([]string, 1000)
	if got := presentableFindings(nil, sentences); len(got) != mostFindings {
		t.Errorf("%d findings of sentences", len(got))
	}
}

func TestTheTimingOfAServerIsBoundedAndMayBeAPhrase(t *testing.T) {
	if got := presentableTiming(nil, "user clock, spinning on a thread of its own"); got == nil || !got.Spins() || !got.OwnThread {
		t.Errorf("%+v", got)
	}
	if got := presentableTiming(nil, ""); got != nil {
		t.Errorf("%+v", got)
	}
	got := presentableTiming(&measure.Timing{Wait: "\x1b[2J" + strings.Repeat("x", 10_000), Socket: strings.Repeat("y", 10_000)}, "spinning")
	if got.Spins() || len(got.Wait) > 510 || len(got.Socket) > 510 || strings.Contains(got.Wait, "\x1b") {
		t.Errorf("%.100q, %d bytes", got.Wait, len(got.Socket))
	}
}

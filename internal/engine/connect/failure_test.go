package connect

import (
	"strings"
	"testing"

	"soku/internal/measure"
)

func TestEveryOutcomeOfThisHostHasASentenceAndANextStep(t *testing.T) {
	for o := range outcomes {
		if !o.own() {
			continue
		}
		e := o.explain("192.0.2.1:80", 3)
		if !strings.HasPrefix(e.Message, "connect 192.0.2.1:80: after 3 connections: ") || e.Hint == "" {
			t.Errorf("%s: %q, hint %q", names[o], e.Message, e.Hint)
		}
	}
}

func TestNothingOpenedNamesTheMostFrequentOutcome(t *testing.T) {
	for code, failures := range map[string]map[string]int64{
		"connect.none.timeout":     nil,
		"connect.none.refused":     {"refused": 2, "timeout": 1},
		"connect.none.unreachable": {"unreachable": 3},
		"connect.none.other":       {"closed_early": 3, "refused": 1},
	} {
		e := nothingOpened("192.0.2.1:80", 3, failures)
		if e.Code != code || e.Kind != measure.KindUnreachable || !strings.HasPrefix(e.Message, "connect 192.0.2.1:80: none of 3 attempts succeeded: ") || e.Hint == "" {
			t.Errorf("%v: %s: %q, hint %q; want the code %s", failures, e.Code, e.Message, e.Hint, code)
		}
	}
}

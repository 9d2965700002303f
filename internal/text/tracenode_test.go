package text

import (
	"testing"

	"soku/internal/measure"
)

func TestTheReasonOfANodeIsSaidByItsCode(t *testing.T) {
	for _, c := range []struct {
		what string
		node measure.TraceNode
		want string
	}{
		{"no reason", measure.TraceNode{}, "192.0.2.1"},
		{"a code", measure.TraceNode{ReasonCode: measure.ReasonAdminProhibited, Reason: "other words"}, "192.0.2.1: a filter on the way forbids it"},
		{"a document of an earlier version", measure.TraceNode{Reason: "port unreachable"}, "192.0.2.1: port unreachable"},
		{"a code of a later version", measure.TraceNode{ReasonCode: "out_of_paper", Reason: "no paper"}, "192.0.2.1: no paper"},
	} {
		c.node.Address = "192.0.2.1"
		if got := English().SentenceOf(TraceNode(&c.node)); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}

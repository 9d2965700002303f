package probe

import (
	"os"
	"strings"
	"testing"

	"soku/internal/measure"
)

func TestEveryErrorHasAReasonWithWordsAndARowInTheDocs(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/trace.md")
	if err != nil {
		t.Fatal(err)
	}
	errors := map[bool][]byte{false: {3, 11, 12}, true: {1, 2, 3, 4}}
	for v6, types := range errors {
		for _, typ := range types {
			for code := range 256 {
				r := Reason(v6, typ, byte(code))
				if words := r.English(); words == "" || strings.HasPrefix(words, "reason.") {
					t.Errorf("v6 %v, type %d code %d: %q has the words %q", v6, typ, code, r, words)
				}
				if row := "| `" + string(r) + "` |"; !strings.Contains(string(page), row) {
					t.Errorf("docs/reference/trace.md has no row %s", row)
				}
			}
		}
	}
}

func TestReasonsAreThoseOfTypeAndCode(t *testing.T) {
	for _, c := range []struct {
		v6        bool
		typ, code byte
		want      measure.Reason
	}{
		{false, 3, 0, measure.ReasonNetworkUnreachable},
		{false, 3, 4, measure.ReasonPacketTooBig},
		{false, 3, 9, measure.ReasonNetworkProhibited},
		{false, 3, 12, measure.ReasonTOSUnreachable},
		{false, 3, 13, measure.ReasonAdminProhibited},
		{false, 3, 15, measure.ReasonPrecedenceCutoff},
		{false, 3, 16, measure.ReasonUnreachable},
		{false, 11, 0, measure.ReasonTimeExceeded},
		{false, 11, 1, measure.ReasonReassemblyTimeout},
		{false, 5, 0, ""},
		{true, 1, 1, measure.ReasonAdminProhibited},
		{true, 1, 4, measure.ReasonPortUnreachable},
		{true, 1, 8, measure.ReasonHeadersTooLong},
		{true, 1, 9, measure.ReasonUnreachable},
		{true, 3, 1, measure.ReasonReassemblyTimeout},
		{true, 128, 0, ""},
	} {
		if got := Reason(c.v6, c.typ, c.code); got != c.want {
			t.Errorf("v6 %v, type %d code %d: %q, want %q", c.v6, c.typ, c.code, got, c.want)
		}
	}
}

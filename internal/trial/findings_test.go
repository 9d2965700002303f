package trial

import (
	"fmt"
	"testing"

	"soku/internal/measure"
)

// wantFindings fails the test where r has others than these, in this order.
func wantFindings(t *testing.T, what any, r *measure.Result, want ...measure.Finding) {
	t.Helper()
	equal := len(r.Findings) == len(want)
	for i := 0; equal && i < len(want); i++ {
		equal = r.Findings[i].Equal(want[i])
	}
	if !equal {
		t.Errorf("%s: findings %+v, want %+v", fmt.Sprint(what), r.Findings, want)
	}
}

// warning is a finding of a code; see [measure.NewFinding].
func warning(code measure.Code, where measure.Where, figures measure.Figures) []measure.Finding {
	return []measure.Finding{measure.NewFinding(code, where, figures)}
}

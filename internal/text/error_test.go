package text

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"soku/internal/measure"
)

func TestAnyErrorIsOneText(t *testing.T) {
	limit := measure.Fail(measure.KindUsage, "cli.ls.limit", measure.Figures{"limit": -1})
	gone := measure.TextError(measure.KindBroken, "peer gone", "")
	earlier := &measure.Error{Kind: measure.KindBroken, Code: "of_another_version", Message: "as it was written", Hint: "and what to do"}
	for want, err := range map[string]error{
		"--limit -1: negative; 0 lists all":            limit,
		"peer gone":                                    gone,
		"as it was written; and what to do":            earlier,
		"file does not exist":                          fs.ErrNotExist,
		"read x: peer gone":                            fmt.Errorf("read x: %w", gone),
		"peer gone; --limit -1: negative; 0 lists all": errors.Join(gone, limit),
		"peer gone; file does not exist; --limit -1: negative; 0 lists all": errors.Join(errors.Join(gone, fs.ErrNotExist), limit),
		"peer gone and file does not exist":                                 fmt.Errorf("%w and %w", gone, fs.ErrNotExist),
	} {
		if got := English().Failure(err); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The sentence is made of code and figures: a catalogue of another language has its own.
func TestTheTextOfAnErrorIsThatOfTheCatalogue(t *testing.T) {
	e := measure.Fail(measure.KindUsage, "cli.ls.limit", measure.Figures{"limit": -1})
	e.Message, e.Hint = "not of the catalogue", "nor this"
	if got := English().Failure(e); got != "--limit -1: negative; 0 lists all" {
		t.Error(got)
	}
}

package filecopy

import (
	"errors"
	"os"
	"testing"

	"go.uber.org/goleak"

	"soku/internal/measure"
	"soku/internal/measure/option"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// options are effective options of a copy, changed by edit.
func options(t *testing.T, edit func(o *measure.Options, own *Options)) measure.Options {
	t.Helper()
	o := option.Defaults(measure.TestCopy)
	own := OptionsOf(o)
	own.Files, own.FileSize, own.Sync = 20, 10_000, off
	edit(&o, &own)
	o.Own = own
	effective, err := option.Effective(o, measure.TestCopy)
	if err != nil {
		t.Fatal(err)
	}
	return effective
}

// empty fails if a folder has anything in it.
func empty(t *testing.T, folder string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) > 0 {
		t.Errorf("%s: %v, %v", folder, entries, err)
	}
}

// wantCode fails if an error is not of that code.
func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	var e *measure.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Errorf("error %v, want one of code %s", err, code)
	}
}

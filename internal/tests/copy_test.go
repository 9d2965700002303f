package tests

import (
	"testing"

	"soku/internal/engine/filecopy"
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/measure/option"
)

func TestACopySaysThatItsFilesWereInMemory(t *testing.T) {
	half, some := 0.5, 0.01
	for name, c := range map[string]struct {
		place measure.CopyPlace
		cache string
		want  int
	}{
		"in the page cache":            {measure.CopyPlace{CachedRatio: &half}, "cold", 1},
		"hardly":                       {measure.CopyPlace{CachedRatio: &some}, "cold", 0},
		"the page cache was asked for": {measure.CopyPlace{CachedRatio: &half}, "warm", 0},
		"not known":                    {measure.CopyPlace{}, "cold", 0},
		"bypassed":                     {measure.CopyPlace{CachedRatio: &half, Direct: true, FileSystem: "ext4"}, "cold", 0},
		"cannot be bypassed":           {measure.CopyPlace{CachedRatio: &half, Direct: true, FileSystem: "tmpfs"}, "cold", 1},
	} {
		o := option.Defaults(measure.TestCopy)
		measure.EditOwn(&o, func(own *filecopy.Options) { own.Cache = c.cache })
		r := &measure.Result{Test: measure.TestCopy, Options: o, Copy: &measure.Copy{Source: &c.place}}
		finishCopy(r)
		if got := r.Findings.With(finding.CopyCached); len(got) != c.want {
			t.Errorf("%s: %+v", name, r.Findings)
		}
	}
}

func TestACopySaysThatItLeftOutWhatIsNoFile(t *testing.T) {
	r := &measure.Result{Test: measure.TestCopy, Options: option.Defaults(measure.TestCopy), Copy: &measure.Copy{Skipped: 3}}
	finishCopy(r)
	if got := r.Findings.With(finding.CopySkipped); len(got) != 1 {
		t.Errorf("%+v", r.Findings)
	}
}

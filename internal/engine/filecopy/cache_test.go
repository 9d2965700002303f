package filecopy

import (
	"testing"

	"soku/internal/measure"
)

func TestWhatASourceReadsIsSeenInThePageCache(t *testing.T) {
	o := options(t, func(_ *measure.Options, own *Options) { own.Disk, own.Sync = t.TempDir(), "end" })
	set, err := Prepare(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	ratio, err := set.cachedRatio(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if ratio == nil {
		t.Skip("the file system does not tell")
	}
	if *ratio != 1 {
		t.Errorf("%v of files that were just written", *ratio)
	}
	if InMemory(describePlace(set.root).FileSystem) {
		t.Skip("a file system in memory drops no pages")
	}
	if ratio, err = coldOr(t.Context(), set, "cold"); err != nil || *ratio > 0.1 {
		t.Errorf("%v, %v after their pages were dropped", *ratio, err)
	}
}

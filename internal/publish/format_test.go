package publish

import (
	"strings"
	"sync"
	"testing"

	"soku/internal/catalog"
	"soku/internal/report"
	"soku/internal/text"
)

func TestNoNameOfACampaignLeavesTheFolder(t *testing.T) {
	for _, name := range []string{"../../etc/passwd", "..", "/", "", "a\x00b", strings.Repeat("界", 500)} {
		got := FileName(report.Meta{Name: name})
		if got == "" || strings.ContainsAny(got, "/\\\x00") || strings.HasPrefix(got, ".") || len(got) > 200 {
			t.Errorf("%q becomes %q", name, got)
		}
	}
}

func TestTheLongestExtensionIsTheFormat(t *testing.T) {
	for file, want := range map[string]string{"a.csv": "csv", "a.TRIALS.csv": "trials.csv", "out/a.html": "html", "a.pdf": "pdf", "a.doc": "", "csv": ""} {
		if f, ok := FormatOfFile(file); f.Name != want || ok != (want != "") {
			t.Errorf("%s: %q, %v", file, f.Name, ok)
		}
	}
}

// The race detector watches this package, and package report only through it.
func TestAReportMayBeWrittenFromSeveralGoroutines(t *testing.T) {
	s, c := marked(t)
	r, err := Campaign(t.Context(), catalog.Builtin(), s, c, "")
	if err != nil {
		t.Fatal(err)
	}
	printed := func(page []byte, _ string) ([]byte, error) { return page, nil }
	var wait sync.WaitGroup
	for _, f := range Formats {
		for range 2 {
			wait.Go(func() {
				if _, err := f.Files(r, FileName(r.Campaign), Options{Catalogue: text.English(), Print: printed}); err != nil {
					t.Errorf("%s: %v", f.Name, err)
				}
			})
		}
	}
	wait.Wait()
}

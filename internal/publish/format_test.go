package publish

import (
	"strings"
	"testing"

	"soku/internal/report"
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

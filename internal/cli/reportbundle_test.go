package cli

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
)

func TestABundleComesBackAsTheCampaign(t *testing.T) {
	from, _, _ := fakeSystem(t)
	fillStore(t, from)
	file := filepath.Join(t.TempDir(), "out", "study.zip")
	if out, errs := from.again("report", "--bundle", file); !strings.Contains(out, "wrote "+file) || !strings.Contains(errs, "--public") {
		t.Fatalf("%q %q", out, errs)
	}
	z, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
	}
	for _, want := range []string{"campaign.json", "results.ndjson", "report.html", "report.md", "report-t1-trials.svg", "report.xlsx", "report.csv", "report.trials.csv", "report.json"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not in %q", want, names)
		}
	}
	to, _, _ := fakeSystem(t)
	for _, want := range []string{"4 results", "0 results"} {
		if out, errs := to.again("merge", file); !strings.Contains(out, want) || errs != "" {
			t.Errorf("%q %q", out, errs)
		}
	}
	a, _ := from.again("report", "--format", "json")
	b, errs := to.again("report", "--format", "json")
	if a != b || len(a) < 1000 {
		t.Errorf("the report of the merged campaign differs: %d and %d bytes; %s", len(a), len(b), errs)
	}
}

// zipOf is a zip file of entries.
func zipOf(t *testing.T, entries ...[2]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, e := range entries {
		w, err := z.Create(e[0])
		if err == nil {
			_, err = w.Write([]byte(e[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestAHostileBundleIsRefused(t *testing.T) {
	campaign := [2]string{"campaign.json", `{"id":"c1","name":"n"}`}
	other := [2]string{"results.ndjson", `{"schema":"soku.result/1","id":"r1","test":"tcp","trial":{"campaign":"another","levels":[]}}`}
	many := make([][2]string, 0, 20_002)
	for i := range 20_001 {
		many = append(many, [2]string{fmt.Sprint(i), ""})
	}
	huge := make([][2]string, 0, 80_000)
	for i := range 80_000 {
		huge = append(huge, [2]string{fmt.Sprintf("%060d", i), ""})
	}
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"no campaign":      {zipOf(t, other), "campaign.json"},
		"no results":       {zipOf(t, campaign), "results.ndjson"},
		"a path":           {zipOf(t, [2]string{"../campaign.json", campaign[1]}, other), "campaign.json"},
		"another campaign": {zipOf(t, campaign, other), "not one of its campaign"},
		"no JSON":          {zipOf(t, [2]string{"campaign.json", "["}, other), "merge"},
		"no identity":      {zipOf(t, [2]string{"campaign.json", "{}"}, other), "campaign.json"},
		"a large campaign": {zipOf(t, [2]string{"campaign.json", strings.Repeat(" ", 5<<20)}, other), "unpacks to more"},
		"many entries":     {zipOf(t, many...), "entries"},
		"a long list":      {zipOf(t, huge...), "entries"},
		"cut off":          {zipOf(t, campaign, other)[:60], "zip"},
	} {
		file := filepath.Join(t.TempDir(), "hostile.zip")
		if err := os.WriteFile(file, c.file, 0o644); err != nil {
			t.Fatal(err)
		}
		sys, _, _ := fakeSystem(t)
		out, errs := sys.again("merge", file)
		if out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%s: %q %q", name, out, errs)
		}
		if out, _ := sys.again("ls", "--campaigns", "--json"); strings.Contains(out, `"r1"`) {
			t.Errorf("%s: a result is in the store", name)
		}
	}
}

func TestADataAddressIsALink(t *testing.T) {
	sys, _, _ := fakeSystem(t)
	fillStore(t, sys)
	page, _ := sys.again("report", "--format", "html", "--data-url", "https://example.com/a.zip?x=1&y=\"<b>")
	if !strings.Contains(page, `<a href="https://example.com/a.zip?x=1&amp;y=%22%3cb%3e"`) {
		t.Error("the page has no link")
	}
	md, _ := sys.again("report", "--format", "md", "--data-url", "https://example.com/a.zip")
	if !strings.Contains(md, "[Data of this report](<https://example.com/a.zip>)") {
		t.Error("Markdown has no link")
	}
	for _, args := range [][]string{
		{"--data-url", "javascript:alert(1)"}, {"--data-url", "file:///etc/passwd"}, {"--data-url", "//example.com"}, {"--data-url", "https://user:secret@example.com/"},
		{"--bundle", "a.zip", "--public"}, {"--bundle", "a.zip", "--runs", "2"},
	} {
		out, errs, code := soku(t, append([]string{"report"}, args...)...)
		if code != exitStatus[measure.KindUsage] || out != "" {
			t.Errorf("%q: status %d: %q %q", args, code, out, errs)
		}
	}
}

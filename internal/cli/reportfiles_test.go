package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"soku/internal/measure"
)

func TestMarkdownHasItsPicturesBesideIt(t *testing.T) {
	store, dir := ingested(t), t.TempDir()
	if _, errs, code := soku(t, "report", "interface-matrix", "--store", store, "-o", filepath.Join(dir, "out", "my report.md")); code != 0 {
		t.Fatal(errs)
	}
	read := func(file string) string {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	md := read(filepath.Join(dir, "out", "my report.md"))
	shown := regexp.MustCompile(`(?m)^!\[.+\]\((my%20report-t[0-9a-z-]+\.svg)\)$`).FindAllStringSubmatch(md, -1)
	for _, link := range shown {
		if picture := read(filepath.Join(dir, "out", strings.ReplaceAll(link[1], "%20", " "))); !strings.HasPrefix(picture, `<svg xmlns="http://www.w3.org/2000/svg" width=`) {
			t.Errorf("%s is %.60q", link[1], picture)
		}
	}
	if written, _ := filepath.Glob(filepath.Join(dir, "out", "*.svg")); len(shown) < 2 || len(written) != len(shown) {
		t.Errorf("%d pictures are shown and %d written", len(shown), len(written))
	}
	out, _, _ := soku(t, "report", "interface-matrix", "--store", store, "--format", "md")
	if strings.Contains(out, "![") || len(out) < 1000 {
		t.Errorf("standard output has pictures:\n%.300s", out)
	}
	plain, _, _ := soku(t, "report", "interface-matrix", "--store", store, "--format", "md", "--plain")
	if strings.Contains(plain, "<") || len(plain) < 1000 {
		t.Errorf("with --plain there is HTML:\n%.300s", plain)
	}
	// The pictures alone are the same files.
	if _, errs, code := soku(t, "report", "interface-matrix", "--store", store, "--format", "svg", "-o", filepath.Join(dir, "svg")); code != 0 {
		t.Fatal(errs)
	}
	if alone, _ := filepath.Glob(filepath.Join(dir, "svg", "interface-matrix-t1-*.svg")); len(alone) == 0 {
		t.Error("no picture in the folder")
	}
}

func TestFormatsOfFilesAreRefusedWhereThereIsNoFile(t *testing.T) {
	for hint, args := range map[string][]string{
		"add -o FOLDER/":   {"--format", "svg"},
		"-o FOLDER/":       {"-o", "a.svg"},
		"add --format md":  {"--plain"},
		"add -o FILE.pdf":  {"--format", "pdf"},
		"add html":         {"--format", "md", "--open", "-o", "a.md"},
		"leave out -o -":   {"--open", "-o", "-"},
		"add -o FILE.xlsx": {"--format", "xlsx", "-o", "-"},
	} {
		out, errs, code := soku(t, append([]string{"report"}, args...)...)
		if code != exitStatus[measure.KindUsage] || out != "" || !strings.Contains(errs, hint) {
			t.Errorf("%q: status %d: %q %q", args, code, out, errs)
		}
	}
}

func TestAPublicReportIsWrittenWithoutNames(t *testing.T) {
	sys, _, _ := fakeSystem(t)
	fillStore(t, sys)
	for _, args := range [][]string{{"report"}, {"report", "--runs", "2"}} {
		for _, format := range []string{"json", "trials.csv"} {
			file := filepath.Join(t.TempDir(), "report."+format)
			_, errs := sys.again(append(args, "-o", file)...)
			private, err := os.ReadFile(file)
			if err != nil || !strings.Contains(errs, "--public") || !strings.Contains(string(private), "office") {
				t.Errorf("%q, %s: %q, %v, %d bytes", args, format, errs, err, len(private))
			}
			_, errs = sys.again(append(args, "-o", file, "--public")...)
			public, err := os.ReadFile(file)
			if err != nil || errs != "" || strings.Contains(string(public), "office") || !strings.Contains(string(public), "host A") {
				t.Errorf("%q, %s: %q, %v, %d bytes", args, format, errs, err, len(public))
			}
		}
	}
	if _, errs := sys.again("report"); errs != "" {
		t.Errorf("a terminal is told %q", errs)
	}
}

func TestAResultIsShownAsAPage(t *testing.T) {
	sys, _, _ := fakeSystem(t)
	fillStore(t, sys)
	file := filepath.Join(t.TempDir(), "pages", "test.html")
	out, errs := sys.again("show", "last", "--html", file)
	page, err := os.ReadFile(file)
	if err != nil || errs != "" || !strings.Contains(out, "wrote "+file) || !strings.Contains(string(page), "<svg") || strings.Contains(string(page), "<script") {
		t.Errorf("%q %q, %v, %.200s", out, errs, err, page)
	}
	for _, other := range []string{"--json", "--rows", "--evidence"} {
		if out, errs := sys.again("show", "last", other, "--html", file); out != "" || !strings.Contains(errs, "html") {
			t.Errorf("%s: %q %q", other, out, errs)
		}
	}
}

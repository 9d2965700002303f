package cli

import (
	"bytes"
	"context"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/test/tier"
)

func TestABrowserWritesAReportAsPDFAndAsAPicture(t *testing.T) {
	tier.WatchesTheClock(t) // a browser is slow enough without a race detector
	sys, _, _ := fakeSystem(t)
	found := false
	for _, name := range sys.browser().Programs() {
		_, err := exec.LookPath(name)
		found = found || err == nil
	}
	if !found {
		t.Skip("no browser on this machine")
	}
	fillStore(t, sys)
	dir := filepath.Join(t.TempDir(), "a folder")
	if out, errs := sys.again("report", "--format", "pdf,png", "-o", dir+"/"); strings.Count(out, "wrote ") != 2 {
		t.Fatalf("%q %q", out, errs)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %v", files, err)
	}
	pdf, err := os.ReadFile(filepath.Join(dir, files[0].Name()))
	if err != nil || !bytes.HasPrefix(pdf, []byte("%PDF-")) || !bytes.Contains(pdf, []byte("/Type /Page")) {
		t.Errorf("%v, %.40q", err, pdf)
	}
	picture, err := os.Open(filepath.Join(dir, files[1].Name()))
	if err != nil {
		t.Fatal(err)
	}
	defer picture.Close()
	switch i, err := png.Decode(picture); {
	case err != nil:
		t.Error(err)
	case i.Bounds().Dx() != 2400 || i.Bounds().Dy() != 1800:
		t.Errorf("%v", i.Bounds())
	}
}

func TestWithoutABrowserAReportIsNotPrinted(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\necho first\necho cannot open the display >&2\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for browser, want := range map[string]string{
		"no-such-browser-here":              "pdf is written by Chromium, Chrome or Edge, and none of them is on this host",
		filepath.Join(dir, "no", "browser"): "SOKU_BROWSER",
		broken:                              "broken did not write the report as pdf: cannot open the display",
	} {
		if runtime.GOOS == "windows" && browser == broken {
			continue
		}
		sys, _, _ := fakeSystem(t)
		sys.Getenv = func(name string) string { return map[string]string{"SOKU_BROWSER": browser}[name] }
		fillStore(t, sys)
		out := filepath.Join(dir, "out")
		_, errs := sys.again("report", "-o", filepath.Join(out, "report.pdf"))
		if left, _ := os.ReadDir(out); !strings.Contains(errs, want) || len(left) > 0 {
			t.Errorf("%s: %q, and %v", browser, errs, left)
		}
	}
}

func TestOpenShowsThePageInABrowser(t *testing.T) {
	sys, _, _ := fakeSystem(t)
	fillStore(t, sys)
	file := filepath.Join(t.TempDir(), "report.html")
	var called []string
	sys.Command = func(ctx context.Context, name string, args ...string) *exec.Cmd {
		called = append([]string{name}, args...)
		return exec.CommandContext(ctx, os.Args[0], "-test.run=^$")
	}
	out, _ := sys.again("report", "--open", "-o", file)
	if page, err := os.ReadFile(file); err != nil || !bytes.Contains(page, []byte("<html")) || len(called) < 2 || called[len(called)-1] != file || !strings.Contains(out, "wrote "+file) {
		t.Errorf("%q, %q, %v", called, out, err)
	}
	sys.Command = func(ctx context.Context, _ string, args ...string) *exec.Cmd {
		return exec.CommandContext(ctx, "no-such-program-here", args...)
	}
	out, errs := sys.again("report", "--open", "-o", file)
	if !strings.Contains(out, "wrote "+file) || !strings.Contains(errs, "open the file in a browser by hand") {
		t.Errorf("%q %q", out, errs)
	}
	if _, errs, code := soku(t, "report", "--open", "--format", "csv"); code != exitStatus[measure.KindUsage] || !strings.Contains(errs, "no page") {
		t.Errorf("%d: %q", code, errs)
	}
}

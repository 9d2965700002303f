package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// Files at another depth than those of an earlier command do not become their repeats without a word.
func TestADeeperFolderOfASecondCommandIsNoRepeat(t *testing.T) {
	const pattern = "{size}/*"
	for name, c := range map[string]struct {
		first, second, pattern, later string
		says                          []string
	}{
		"with a pattern":       {"runs/D2/a.json", "runs/east/D2/b.json", pattern, pattern, []string{"one lies in east/", "--path-pattern '{folder}/{size}/*'", "--path-pattern '*/{size}/*' if they are repeats"}},
		"two folders":          {"runs/D2/a.json", "runs/1/east/D2/b.json", pattern, pattern, []string{"one lies in 1/east/", "'{folder1}/{folder2}/{size}/*'", "'*/*/{size}/*'"}},
		"the deeper one first": {"runs/east/D2/a.json", "runs/D2/b.json", pattern, pattern, []string{"one lies in east/"}},
		"without a pattern":    {"runs/D2/a.json", "runs/east/D2/b.json", "", "", []string{"one lies in east/D2/", "--path-pattern '{folder1}/{folder2}/*'", "the others '{folder}/*'", "--path-pattern 'none' if they are repeats"}},
		"no folder before":     {"runs/a.json", "runs/D4/b.json", "", "", []string{"one lies in D4/", "--path-pattern '{folder}/*'"}},
		"the level is given":   {"runs/D2/a.json", "runs/east/D2/b.json", pattern, "{zone}/{size}/*", nil},
		"repeats":              {"runs/D2/a.json", "runs/east/D2/b.json", pattern, "*/{size}/*", nil},
		"none":                 {"runs/D2/a.json", "runs/east/D2/b.json", "", "none", nil},
		"another level":        {"runs/D2/a.json", "runs/east/D4/b.json", pattern, pattern, nil},
		"the same depth":       {"runs/D2/a.json", "more/D2/b.json", pattern, pattern, nil},
	} {
		t.Run(name, func(t *testing.T) {
			sys, _, _ := fakeSystem(t)
			dir := folderOf(t, map[string]string{c.first: "@iperf3-3.12-tcp.json", c.second: "@iperf3-3.1-tcp.json"})
			ingest := func(path, pattern string) (ingestReport, int, string) {
				args := []string{"--campaign", "x", filepath.Join(dir, path)}
				if pattern != "" {
					args = append(args, "--path-pattern", pattern)
				}
				return ingestedAs(t, sys, args...)
			}
			if report, code, errs := ingest(c.first, c.pattern); code != 0 || report.New != 1 {
				t.Fatalf("the first file: status %d, %+v: %s", code, report, errs)
			}
			report, code, errs := ingest(c.second, c.later)
			if refused := code == 2 && report.New == 0; refused != (c.says != nil) || !refused && code != 0 {
				t.Errorf("status %d, %+v: %s", code, report, errs)
			}
			for _, want := range c.says {
				if !strings.Contains(errs, want) {
					t.Errorf("%s\nwant %q", errs, want)
				}
			}
			if report, code, errs := ingest(c.first, c.pattern); code != 0 || report.Known != 1 {
				t.Errorf("the first file again: status %d, %+v: %s", code, report, errs)
			}
		})
	}
}

// Relative paths may have been named from different folders.
func TestRelativePathsWithoutACommonFolderAreNotCompared(t *testing.T) {
	t.Chdir(folderOf(t, map[string]string{"a.json": "@iperf3-3.12-tcp.json", "runs/b.json": "@iperf3-3.1-tcp.json", "D2/a.json": "@iperf3-3.12-tcp.json", "runs/D2/b.json": "@iperf3-3.1-tcp.json"}))
	for _, files := range [][]string{{"D2/a.json", "runs/D2/b.json"}, {"a.json", "runs/b.json"}} {
		sys, _, _ := fakeSystem(t)
		for _, file := range files {
			if report, code, errs := ingestedAs(t, sys, "--campaign", "x", file); code != 0 || report.New != 1 {
				t.Errorf("%s: status %d, %+v: %s", file, code, report, errs)
			}
		}
	}
}

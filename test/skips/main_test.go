package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const events = `{"Action":"run","Package":"soku/internal/a","Test":"TestDisk"}
{"Action":"output","Package":"soku/internal/a","Test":"TestDisk","Output":"    a_test.go:3: this machine has no disk\n"}
{"Action":"output","Package":"soku/internal/a","Test":"TestDisk","Output":"    testscript.go:609: WORK=$WORK\n"}
{"Action":"skip","Package":"soku/internal/a","Test":"TestDisk"}
{"Action":"output","Package":"soku/internal/a","Test":"TestLong","Output":"    a_test.go:9: tier: it spends real seconds\n"}
{"Action":"skip","Package":"soku/internal/a","Test":"TestLong"}
{"Action":"skip","Package":"soku/internal/a","Test":"TestSilent/part"}
{"Action":"output","Package":"soku/internal/a","Test":"TestGood","Output":"    a_test.go:9: a note\n"}
{"Action":"pass","Package":"soku/internal/a","Test":"TestGood"}
{"Action":"skip","Package":"soku/cmd/soku"}
`

func TestSkippedTestsAreListedAndUnlistedOnesFail(t *testing.T) {
	const disk, both = "# hardware\n\ninternal/a.TestDisk  no disk\n", "internal/a.TestDisk no disk\ninternal/a.TestSilent/part  says nothing\n"
	for name, c := range map[string]struct {
		allowed string
		want    string // part of the error; empty: no error
	}{
		"no list":              {"", ""},
		"one is not listed":    {disk, "internal/a.TestSilent/part was skipped and is not in"},
		"all are listed":       {both, ""},
		"listed, but no why":   {"internal/a.TestDisk\n", "internal/a.TestDisk has no reason"},
		"the list is not here": {"-", "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			from, allowedFile := filepath.Join(dir, "tests.json"), ""
			if c.allowed != "" {
				allowedFile = filepath.Join(dir, "allowed.txt")
			}
			for file, text := range map[string]string{from: events, allowedFile: c.allowed} {
				if file == "" || text == "-" {
					continue
				}
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			var out strings.Builder
			err := list(&out, allowedFile, []string{from})
			if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			const want = "skipped tests: 2, and 1 of other tiers\n  internal/a.TestDisk: this machine has no disk\n  internal/a.TestSilent/part: \n"
			if out.String() != want {
				t.Errorf("printed %q, want %q", out.String(), want)
			}
		})
	}
}

func TestARepeatedTestNeedsABusyHost(t *testing.T) {
	const failed = `{"Action":"output","Package":"soku/internal/a","Test":"TestTime/part","Output":"    a_test.go:3: late\n"}
{"Action":"fail","Package":"soku/internal/a","Test":"TestTime/part"}
`
	const busy = `{"Action":"output","Package":"soku/internal/a","Test":"TestTime","Output":"    tier.go:3: tier: failed on a busy host: the hypervisor took 9 %\n"}
`
	const end = `{"Action":"fail","Package":"soku/internal/a","Test":"TestTime"}
{"Action":"fail","Package":"soku/internal/a"}
`
	const passed = `{"Action":"pass","Package":"soku/internal/a","Test":"TestTime/part"}
{"Action":"pass","Package":"soku/internal/a","Test":"TestTime"}
`
	for name, c := range map[string]struct{ events, printed, err string }{
		"busy":      {failed + busy + end + passed, "repeated on a busy host: internal/a.TestTime (the hypervisor took 9 %)\n", ""},
		"not busy":  {failed + end + passed, "", "internal/a.TestTime failed and passed when it was repeated"},
		"no repeat": {passed, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			from := filepath.Join(t.TempDir(), "tests.json")
			if err := os.WriteFile(from, []byte(c.events), 0o644); err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			err := list(&out, "", []string{from})
			if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want %q", err, c.err)
			}
			if want := c.printed + "skipped tests: 0\n"; out.String() != want {
				t.Errorf("printed %q, want %q", out.String(), want)
			}
		})
	}
}

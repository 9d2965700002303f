// Command skips lists the skipped tests with their reasons, from the output of
// "go test -json":
//
//	go run ./test/skips [-allowed FILE] FILE...
//
// With -allowed it fails if a skipped test is not listed in the file. Tests that belong to
// another tier (package tier) are counted and not listed.
//
// It also lists the tests that failed and passed when they were repeated. It fails if one of
// them is not a timing-sensitive test that failed on a busy host.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"soku/test/tier"
)

func main() {
	allowed := flag.String("allowed", "", "file with the tests that may be skipped; others are an error")
	flag.Parse()
	if err := list(os.Stdout, *allowed, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// list writes the skipped tests of all files to w.
func list(w io.Writer, allowedFile string, files []string) error {
	var all []skip
	var again []repeat
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		found, repeats, err := readEvents(f)
		_ = f.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all, again = append(all, found...), append(again, repeats...)
	}
	err := listRepeats(w, again)
	others := len(all)
	all = slices.DeleteFunc(all, func(s skip) bool { return strings.HasPrefix(s.reason, leftOut) })
	others -= len(all)
	fmt.Fprintf(w, "skipped tests: %d", len(all))
	if others > 0 {
		fmt.Fprintf(w, ", and %d of other tiers", others)
	}
	fmt.Fprintln(w)
	for _, s := range all {
		fmt.Fprintf(w, "  %s: %s\n", s.test, s.reason)
	}
	if allowedFile == "" {
		return err
	}
	allowed, errAllowed := readAllowed(allowedFile)
	if errAllowed != nil {
		return errors.Join(err, errAllowed)
	}
	all = slices.DeleteFunc(all, func(s skip) bool { return slices.Contains(allowed, s.test) })
	for _, s := range all {
		err = errors.Join(err, fmt.Errorf("%s was skipped and is not in %s", s.test, allowedFile))
	}
	return err
}

// leftOut is the prefix of the reasons of package tier.
const leftOut = "tier: "

// skip is a test that was skipped.
type skip struct {
	test   string // such as internal/sock.TestX/name
	reason string // empty if the test gives none
}

// repeat is a test that failed and passed when it was repeated.
type repeat struct {
	test string
	busy string // how busy the host was; empty if it was not, or if the test is not timing-sensitive
}

// listRepeats writes the repeated tests to w. The error names those that had no reason to fail.
func listRepeats(w io.Writer, again []repeat) (err error) {
	for _, r := range again {
		if r.busy == "" {
			err = errors.Join(err, fmt.Errorf("%s failed and passed when it was repeated; the host was not busy, or no function of test/tier marks the test as timing-sensitive", r.test))
			continue
		}
		fmt.Fprintf(w, "repeated on a busy host: %s (%s)\n", r.test, r.busy)
	}
	return err
}

// topLevel returns the name of the test that a subtest belongs to.
func topLevel(test string) string {
	if i := strings.Index(test, ".Test"); i >= 0 {
		name, _, _ := strings.Cut(test[i:], "/")
		return test[:i] + name
	}
	return test
}

// event is a line of go test -json; see go doc test2json.
type event struct {
	Action, Package, Test, Output string
}

// place matches the file and line that package testing writes before a message.
var place = regexp.MustCompile(`^\w+\.go:\d+: `)

// scriptLog is the first line that package testscript writes after the reason of a skip. The
// reason of other tests is their last line.
const scriptLog = "testscript.go:"

// readEvents returns the tests that were skipped, and those that failed first and passed later.
func readEvents(r io.Reader) (skips []skip, again []repeat, err error) {
	last := map[string]string{} // message by test
	busy := map[string]string{} // message of package tier by top-level test
	failed := map[string]bool{} // by test
	for lines := json.NewDecoder(bufio.NewReader(r)); ; {
		var e event
		if err := lines.Decode(&e); errors.Is(err, io.EOF) {
			return skips, again, nil
		} else if err != nil {
			return nil, nil, err
		}
		test := strings.TrimPrefix(e.Package, "soku/") + "." + e.Test
		switch e.Action {
		case "fail":
			failed[test] = true
		case "pass":
			if failed[test] && e.Test != "" && !strings.Contains(e.Test, "/") {
				again = append(again, repeat{test, busy[test]})
			}
			delete(failed, test)
		case "output":
			text := strings.TrimSpace(e.Output)
			if _, why, ok := strings.Cut(text, tier.Busy); ok {
				busy[topLevel(test)] = why
			}
			if place.MatchString(text) && !strings.HasPrefix(text, scriptLog) {
				last[test] = place.ReplaceAllString(text, "")
			}
		case "skip":
			if e.Test != "" { // without one it is a package that has no tests
				skips = append(skips, skip{test, last[test]})
			}
		}
	}
}

// readAllowed returns the tests of a file: the first word of each line that is
// neither empty nor a comment. The rest of the line is the reason.
func readAllowed(name string) (tests []string, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		test, reason, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case test == "" || strings.HasPrefix(test, "#"):
		case strings.TrimSpace(reason) == "":
			return nil, fmt.Errorf("%s: %s has no reason", name, test)
		default:
			tests = append(tests, test)
		}
	}
	return tests, nil
}

// Command skips lists the skipped tests with their reasons, from the output of
// "go test -json":
//
//	go run ./test/skips [-allowed FILE] FILE...
//
// With -allowed it fails if a skipped test is not listed in the file. Tests that belong to
// another tier (package tier) are counted and not listed.
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
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		found, err := readSkips(f)
		_ = f.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, found...)
	}
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
		return nil
	}
	allowed, err := readAllowed(allowedFile)
	if err != nil {
		return err
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

// event is a line of go test -json; see go doc test2json.
type event struct {
	Action, Package, Test, Output string
}

// place matches the file and line that package testing writes before a message.
var place = regexp.MustCompile(`^\w+\.go:\d+: `)

// scriptLog is the first line that package testscript writes after the reason of a skip. The
// reason of other tests is their last line.
const scriptLog = "testscript.go:"

func readSkips(r io.Reader) (skips []skip, err error) {
	last := map[string]string{} // message by test
	for lines := json.NewDecoder(bufio.NewReader(r)); ; {
		var e event
		if err := lines.Decode(&e); errors.Is(err, io.EOF) {
			return skips, nil
		} else if err != nil {
			return nil, err
		}
		test := strings.TrimPrefix(e.Package, "soku/") + "." + e.Test
		switch e.Action {
		case "output":
			text := strings.TrimSpace(e.Output)
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

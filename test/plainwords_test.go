package test

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// wordPattern is a pattern of prose that readers who learned English second must read twice,
// with the number of lines that may have it.
type wordPattern struct {
	pattern *regexp.Regexp
	budget  int
	row     string
}

// readWordPatterns reads plainwords.txt: lines of a number, spaces and a regular expression.
func readWordPatterns(t *testing.T) (patterns []wordPattern) {
	t.Helper()
	text, err := os.ReadFile("plainwords.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		number, pattern, _ := strings.Cut(line, " ")
		budget, err := strconv.Atoi(number)
		if err != nil {
			t.Fatalf("plainwords.txt: %q does not begin with a number", line)
		}
		re, err := regexp.Compile(strings.TrimSpace(pattern))
		if err != nil {
			t.Fatalf("plainwords.txt: %v", err)
		}
		patterns = append(patterns, wordPattern{re, budget, pattern})
	}
	return patterns
}

// prose are the files with text of our own: sources, messages and documentation. Recorded
// output of programs and published reports are excluded.
func prose(t *testing.T) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "-C", "..", "ls-files", "*.go", "*.md", "*.en.json").Output()
	if err != nil {
		t.Skip("the sources are in no git checkout")
	}
	var files []string
	for file := range strings.Lines(string(out)) {
		file = strings.TrimSpace(file)
		if !strings.Contains(file, "testdata/") && !strings.HasPrefix(file, "test/fixtures/") && !strings.HasPrefix(file, "docs/samples/") {
			files = append(files, filepath.Join("..", file))
		}
	}
	return files
}

// written returns what a line of a file has for readers: in Go, only its comments.
func written(file, line string) string {
	if !strings.HasSuffix(file, ".go") {
		return line
	}
	if _, comment, ok := strings.Cut(line, "// "); ok {
		return "// " + comment
	}
	return ""
}

func TestProseIsPlain(t *testing.T) {
	patterns := readWordPatterns(t)
	found := make([][]string, len(patterns))
	for _, file := range prose(t) {
		f, err := os.Open(file)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		for n := 1; lines.Scan(); n++ {
			text := written(file, lines.Text())
			for i, p := range patterns {
				if text != "" && p.pattern.MatchString(text) {
					found[i] = append(found[i], fmt.Sprintf("%s:%d: %.120s", file, n, strings.TrimSpace(text)))
				}
			}
		}
		if err := lines.Err(); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		_ = f.Close()
	}
	for i, p := range patterns {
		if n := len(found[i]); n > p.budget {
			t.Errorf("%d lines have %s, %d may: write them as a man page would. Some are:\n%s",
				n, p.row, p.budget, strings.Join(found[i][max(0, n-20):], "\n"))
		} else if n < p.budget {
			t.Logf("%d lines have %s: lower the budget of %d in plainwords.txt", n, p.row, p.budget)
		}
	}
	if len(patterns) < 8 {
		t.Errorf("read %d patterns", len(patterns))
	}
}

// The README is a first meeting: what a reader needs later is on other pages.
func TestTheREADMEIsShort(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(text), "\n"); lines > 90 {
		t.Errorf("README.md has %d lines, 90 at most: docs/commands.md has the command lines", lines)
	}
}

// productLines is the largest number of lines that the sources of the program may have, tests
// not counted. A feature that needs more raises it, in the same commit.
const productLines = 151500

func TestTheProgramStaysSmall(t *testing.T) {
	lines := 0
	for _, root := range []string{"../internal", "../cmd"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			lines += strings.Count(string(text), "\n")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d lines", lines)
	if lines > productLines {
		t.Errorf("the program has %d lines, %d at most: rearrange, or raise productLines", lines, productLines)
	}
}

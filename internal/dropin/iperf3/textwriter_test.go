package iperf3

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"soku/test/tier"
)

var (
	figure = regexp.MustCompile(` *\d+(\.\d+)?(e\+\d+)?`)
	prefix = regexp.MustCompile(`[KMGT]?(Bytes|bits)`)
)

// form is a text with its figures and units replaced.
func form(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.Contains(line, "out-of-order") {
			continue // present in some runs only
		}
		if strings.HasPrefix(line, "Time:") || strings.Contains(line, "Cookie:") {
			line = strings.Fields(line)[0] + "\n"
		}
		b.WriteString(prefix.ReplaceAllString(figure.ReplaceAllString(line, " N"), "$1"))
	}
	return b.String()
}

// printed is what soku prints for the events of this document.
func printed(t *testing.T, doc map[string]any, role string, verbose bool) string {
	t.Helper()
	var b bytes.Buffer
	set := defaults()
	set.Role, set.Verbose, set.Title = role, verbose, wording(doc, "title")
	w := newText(&b, &b, set, time.Now)
	w.Begin(Program{wording(doc, "start", "version"), wording(doc, "start", "system_info")})
	s, intervals, end := happened(doc)
	w.Start(s)
	for _, iv := range intervals {
		w.Interval(iv)
	}
	w.End(end)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// body is a server's output for a test, without the lines about listening.
func body(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "-----") && !strings.HasPrefix(line, "Server listening") {
			b.WriteString(line)
		}
	}
	return b.String()
}

func TestTextIsThatOfIperf3(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	for _, mode := range []string{
		"", "-R", "--bidir", "-P 2", "-P 2 -R", "-P 2 --bidir", "-O 1", "-n 15M", "-k 120", "-b 10M", "-M 1000", "-i 0", "-T name",
		"-u", "-u -R", "-u --bidir", "-u -P 2", "-u -P 2 --bidir", "-u -O 1",
		"-V", "-V -R", "-V --bidir -P 2", "-V -u", "-V -u -R -P 2", "-V -b 5M -n 1M", "-V -k 120 -M 1000",
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			option, mode := verbosity(mode)
			client, server := realSession(t, option, mode)
			clientDoc, serverDoc := realSession(t, "-J", mode)
			sameText(t, client.stdout, printed(t, parsed(t, clientDoc.stdout), Client, option != ""))
			sameText(t, body(server.stdout), printed(t, parsed(t, serverDoc.stdout), Server, option != ""))
		})
	}
}

// sameText requires the same lines except for figures. The number of intervals varies: a
// short last one may be present or not.
func sameText(t *testing.T, theirs, ours string) {
	t.Helper()
	want, got := distinct(form(theirs)), distinct(form(ours))
	if want != got {
		t.Errorf("iperf3 prints\n%s\nand soku\n%s\nfor\n%s", want, got, theirs)
	}
}

// distinct omits repeated lines.
func distinct(text string) string {
	seen := map[string]bool{}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !seen[line] {
			b.WriteString(line)
		}
		seen[line] = true
	}
	return b.String()
}

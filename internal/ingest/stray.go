package ingest

import (
	"regexp"
	"strings"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// strayText is lines of a file that are no part of what is read: text around documents, or messages about
// no test.
type strayText struct {
	line, lines int
	text        string // of the first line
	read        int    // documents or tests that were read before
}

// addStray records a line that is no part of what is read, after that many documents or tests.
func (s *Source) addStray(line int, text string, read int) {
	if n := len(s.stray); n > 0 && s.stray[n-1].read == read {
		if last := &s.stray[n-1]; line > last.line {
			last.lines++
		}
		return
	}
	s.stray = append(s.stray, strayText{line, 1, short(text), read})
}

// reportStray gives each stray text to the result that begins after it, or to the last one.
func (s *Source) reportStray(results []*measure.Result) {
	i := 0
	about := map[int]*strayText{}
	for _, v := range append(s.prefix, s.stray...) {
		for i < len(results)-1 && results[i].Origin.Line <= v.line && v.read > 0 {
			i++
		}
		if before := about[i]; before != nil {
			before.lines += v.lines
		} else {
			about[i] = &v
		}
	}
	for i, v := range about {
		results[i].Findings.Add(finding.TextAround, "", measure.Figures{"line": v.line, "lines": v.lines, "text": v.text})
	}
}

// linePrefixes are what programs that collect logs put before every line: the time of kubectl and docker logs
// --timestamps, the pod of kubectl logs --prefix, the service of docker compose logs, and what journalctl
// and syslog write.
var linePrefixes = []*regexp.Regexp{
	regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)(?:[ \t]|$)`),
	regexp.MustCompile(`^\[(?:pod|container)/[^\]\s]{1,300}\](?:[ \t]|$)`),
	regexp.MustCompile(`^[A-Za-z0-9][\w.-]{0,100} {1,40}\|(?: |$)`),
	regexp.MustCompile(`^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S{1,100} [^\s\[]{1,100}\[\d{1,10}\]:(?: |$)`),
}

// withoutLinePrefix removes what programs that collect logs put before every line.
func (s *Source) withoutLinePrefix(text string) string {
	const most = 2 // of one line, such as a pod and a time
	for range most {
		for _, prefix := range linePrefixes {
			rest, first, lines := cutPrefixes(text, prefix)
			if first == "" {
				continue
			}
			s.prefix = append(s.prefix, strayText{line: 1, lines: lines, text: short(first)})
			text = rest
		}
	}
	return text
}

// cutPrefixes removes a prefix from all lines. Without one in a line that is not empty, first is empty.
func cutPrefixes(text string, prefix *regexp.Regexp) (rest, first string, lines int) {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line, end := strings.CutSuffix(line, "\n")
		found := prefix.FindString(line)
		switch {
		case found == "" && strings.TrimSpace(line) != "":
			return text, "", 0
		case first == "" && found != "":
			first = found
			b.Grow(len(text))
		}
		lines++
		b.WriteString(line[len(found):])
		if end {
			b.WriteByte('\n')
		}
	}
	return b.String(), first, lines
}

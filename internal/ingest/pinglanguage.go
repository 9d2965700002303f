package ingest

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"soku/internal/measure"
)

//go:embed pinglanguages.txt
var pingLanguageTable string

// pingLanguage is a language in which ping may write, with words of its output.
type pingLanguage struct {
	name           string
	words, windows []string
}

var pingLanguages = sync.OnceValue(func() (out []pingLanguage) {
	for line := range strings.Lines(pingLanguageTable) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		i := slices.Index(cells, "/")
		out = append(out, pingLanguage{cells[0], cells[1:i], cells[i+1:]})
	}
	return out
})

// foreignPing is the error for the output of ping in a language that is not read, or nil if it is in none. The
// languages are looked for in the run that begins at this line.
func (s *Source) foreignPing(line int) error {
	text := s.text
	for range line - 1 {
		_, text, _ = strings.Cut(text, "\n")
	}
	text = text[:min(len(text), sniffBytes)]
	if !strings.Contains(strings.ToLower(text), "ping") {
		return nil
	}
	has := func(words []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
	}
	for _, l := range pingLanguages() {
		windows := has(l.windows)
		if !windows && !has(l.words) {
			continue
		}
		err := s.fail(line, "ingest.ping.language", measure.Figures{"language": l.name})
		if windows {
			return err.WithHintCode("ingest.ping.windows", nil)
		}
		return err
	}
	return nil
}

package ingest

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"soku/internal/measure"
)

// PathPattern reads factors from the end of a path: {name} matches a part without a slash, *
// such a part that is not kept. {round} and {repeat} are the number of the round, and {end} is
// the part that differs between the two files of one run; these are not factors.
type PathPattern struct {
	text   string
	whole  *regexp.Regexp
	names  []string
	hasEnd bool
}

// ParsePathPattern reads a pattern such as {sku}/{zone}/run{repeat}.json. An
// error is of kind usage.
func ParsePathPattern(text string) (*PathPattern, error) {
	fail := func(code string, figures measure.Figures) error {
		return measure.Fail(measure.KindUsage, code, figures).WithHintCode("ingest.pattern", nil)
	}
	if len(text) > 4096 {
		return nil, fail("ingest.pattern.too_long", measure.Figures{"pattern": short(text)})
	}
	p := &PathPattern{text: text}
	var b strings.Builder
	b.WriteString("(?:^|/)")
	for rest := strings.TrimPrefix(text, "./"); rest != ""; {
		i := strings.IndexAny(rest, "{}*")
		if i < 0 {
			b.WriteString(regexp.QuoteMeta(rest))
			break
		}
		b.WriteString(regexp.QuoteMeta(rest[:i]))
		if rest[i] == '*' {
			b.WriteString("[^/]*")
			rest = rest[i+1:]
			continue
		}
		end := strings.IndexByte(rest[i:], '}')
		if rest[i] == '}' || end < 0 {
			return nil, fail("ingest.pattern.brace", measure.Figures{"pattern": short(text)})
		}
		name := strings.TrimSpace(rest[i+1 : i+end])
		if name == "" || strings.ContainsAny(name, "{/") {
			return nil, fail("ingest.pattern.no_name", measure.Figures{"pattern": short(text)})
		}
		for _, n := range p.names {
			if n == name {
				return nil, fail("ingest.pattern.twice", measure.Figures{"pattern": short(text), "name": short(name)})
			}
		}
		p.names = append(p.names, name)
		p.hasEnd = p.hasEnd || isEnd(name)
		if isRound(name) {
			b.WriteString("([0-9]{1,6})")
		} else {
			b.WriteString("([^/]+?)")
		}
		rest = rest[i+end+1:]
	}
	if len(p.names) == 0 {
		return nil, fail("ingest.pattern.nothing", measure.Figures{"pattern": short(text)})
	}
	whole, err := regexp.Compile(b.String() + "$")
	if err != nil {
		return nil, fail("ingest.pattern.unreadable", measure.Figures{"pattern": short(text)})
	}
	p.whole = whole
	return p, nil
}

func isRound(name string) bool { return name == "round" || name == "repeat" }

func (p *PathPattern) hasRound() bool { return slices.ContainsFunc(p.names, isRound) }

func isEnd(name string) bool { return name == "end" }

// withoutEnd is a path with {end} in place of that part.
func (p *PathPattern) withoutEnd(path string) (string, bool) {
	if !p.hasEnd {
		return "", false
	}
	path = strings.ReplaceAll(path, `\`, "/")
	at := p.whole.FindStringSubmatchIndex(path)
	if at == nil {
		return "", false
	}
	i := 2 * (1 + slices.IndexFunc(p.names, isEnd))
	return path[:at[i]] + "{end}" + path[at[i+1]:], true
}

// unread are the folders of a path before what the pattern reads, or all without a pattern. ok is false for a
// path of another form.
func (p *PathPattern) unread(path string) (folders []string, ok bool) {
	if p == nil {
		return foldersOf(path), true
	}
	path = strings.ReplaceAll(path, `\`, "/")
	at := p.whole.FindStringIndex(path)
	if at == nil {
		return nil, false
	}
	return foldersOf(path[:min(at[0]+1, len(path))]), true
}

// Match returns the factors in a path, in the pattern's order, and the round, 0
// where the pattern has none. ok is false for a path of another form.
func (p *PathPattern) Match(path string) (levels []measure.Level, round int, ok bool) {
	found := p.whole.FindStringSubmatch(strings.ReplaceAll(path, `\`, "/"))
	if found == nil {
		return nil, 0, false
	}
	for i, name := range p.names {
		text := found[i+1]
		if isEnd(name) {
			continue
		}
		if !isRound(name) {
			levels = append(levels, measure.Level{Factor: name, Value: short(text)})
			continue
		}
		if round, _ = strconv.Atoi(text); round < 1 {
			return nil, 0, false
		}
	}
	return levels, round, true
}

package yamlfile

import (
	"errors"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"

	"soku/internal/measure"
)

// syntax is the failure of a text that is not YAML: one of the mistakes that people make in plain
// words, otherwise what the parser says.
func (f *File) syntax(text string, err error) error {
	var y yaml.Error
	var message string
	at := Start
	if !errors.As(err, &y) {
		message = err.Error()
	} else { // its Error formats the source around it, in quadratic time
		message = y.GetMessage()
		if t := y.GetToken(); t != nil && t.Position != nil {
			at = Place{t.Position.Line, t.Position.Column}
		}
	}
	if e := f.mistake(text, message, at); e != nil {
		return e
	}
	return f.Fail(at, "yaml.syntax", measure.Figures{"cause": errors.New(strings.Join(strings.Fields(message), " "))})
}

var (
	indentation = regexp.MustCompile(`^[ \t]*`)
	// In the texts of the following, a key comes first and its value second.
	twoKeys  = regexp.MustCompile(`^\s*(?:- )?([^\s:{\[,&*]+):\s+([^\s"'\[{|>#].*:(?:\s.*)?)$`)
	noSpace  = regexp.MustCompile(`^\s*(?:- )?([\w.-]+):([^\s/].*)$`)
	reserved = regexp.MustCompile("^\\s*(?:- )?([^\\s:{\\[,&*]+):\\s+((?:[%@`]|- ).*)$")
)

// mistake recognizes a mistake of people at the place where the parser stopped with a message, or
// returns nil.
func (f *File) mistake(text, message string, at Place) error {
	lines := strings.Split(text, "\n")
	if at.Line > len(lines) {
		return nil
	}
	line := lines[at.Line-1]
	if tab := strings.IndexByte(indentation.FindString(line), '\t'); tab >= 0 {
		return f.Fail(Place{at.Line, tab + 1}, "yaml.tab", nil)
	}
	for _, of := range []struct {
		line *regexp.Regexp
		code string
	}{{twoKeys, "yaml.colon"}, {noSpace, "yaml.no_space"}, {reserved, "yaml.reserved"}} {
		if m := of.line.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			return f.Fail(at, of.code, measure.Figures{"key": Shorten(m[1]), "value": Shorten(m[2])})
		}
	}
	next := at.Line // index of the line behind, which is indented if the parser took it for a part of a value
	if strings.HasPrefix(message, "mapping value is not allowed") && next < len(lines) && strings.HasPrefix(lines[next], " ") {
		return f.Fail(Place{next + 1, len(indentation.FindString(lines[next])) + 1}, "yaml.indented", nil)
	}
	return nil
}

package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/text/language"

	"soku/internal/measure"
	"soku/internal/text"
)

// languageFlag is the flag of every command that names the language of its output.
const languageFlag = "lang"

// languages are those that people can choose. English comes first: it stands in for others.
var languages = []struct {
	name string
	make func() *text.Catalogue
}{
	{"en", text.English},
	{"ja", func() *text.Catalogue { return text.For(language.Japanese) }},
}

// catalogueOf is the catalogue of a language, or nil if there is none of that name.
func catalogueOf(name string) *text.Catalogue {
	for _, l := range languages {
		if l.name == name {
			return l.make()
		}
	}
	return nil
}

// environmentCatalogue is the catalogue of the language that the environment asks for: the first of
// SOKU_LANG, LC_ALL, LC_MESSAGES and LANG that is not empty. It is English if that is no
// language of soku, or if its character set is not UTF-8.
func environmentCatalogue(getenv func(string) string) *text.Catalogue {
	locale := cmp.Or(getenv("SOKU_LANG"), getenv("LC_ALL"), getenv("LC_MESSAGES"), getenv("LANG"))
	locale, _, _ = strings.Cut(strings.ToLower(locale), "@")
	name, charset, _ := strings.Cut(locale, ".") // ja_JP.UTF-8
	if i := strings.IndexAny(name, "_-"); i >= 0 {
		name = name[:i]
	}
	c := catalogueOf(name)
	if c == nil || !slices.Contains([]string{"", "utf8", "utf-8"}, charset) {
		return languages[0].make()
	}
	return c
}

// languageValue is the value of --lang. Setting it sets the catalogue of the system.
type languageValue struct{ sys *System }

func (v languageValue) String() string { return "" } // nothing that help would print as a default
func (v languageValue) Type() string   { return "en|ja" }

func (v languageValue) Set(name string) error {
	c := catalogueOf(name)
	if c == nil {
		return measure.Fail(measure.KindUsage, "cli.language", measure.Figures{"text": name})
	}
	v.sys.Catalogue = c
	return nil
}

// addLanguage adds --lang to a command and those below it.
func addLanguage(root *cobra.Command, sys *System) {
	root.PersistentFlags().Var(languageValue{sys}, languageFlag, "language of the output (default: that of SOKU_LANG, LC_ALL, LC_MESSAGES or LANG, else en)")
	complete(root, languageFlag, func(*cobra.Command, []string, string) (out []cobra.Completion, _ cobra.ShellCompDirective) {
		for _, l := range languages {
			out = append(out, l.name)
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	})
}

// takeLanguage removes --lang from the begin of the arguments and sets the catalogue: the first word
// behind it may be a drop-in, whose arguments are its own.
func (s *System) takeLanguage() {
	for len(s.Args) > 0 {
		name, rest := "", s.Args[1:]
		switch value, joined := strings.CutPrefix(s.Args[0], "--"+languageFlag+"="); {
		case joined:
			name = value
		case s.Args[0] == "--"+languageFlag && len(rest) > 0:
			name, rest = rest[0], rest[1:]
		}
		if (languageValue{s}).Set(name) != nil {
			return // no --lang, or an error of the flag
		}
		s.Args = rest
	}
}

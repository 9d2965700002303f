// Package messages holds the message catalogues: every sentence that a person reads,
// one file an area and language (area.language.json, the format of go-i18n), with the
// functions by which a message writes numbers, units, lists and plurals.
//
// It knows nothing of what the sentences are about: package text makes the sentences of
// figures, findings and reports with it, package measure those of errors. It starts no
// goroutines; a Language may be used from several at once.
package messages

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	texttemplate "text/template"

	"github.com/nicksnyder/go-i18n/v2/i18n"
	"github.com/nicksnyder/go-i18n/v2/i18n/template"
	"golang.org/x/text/language"
)

// Files are the catalogues of all languages.
//
//go:embed *.json
var Files embed.FS

// Args are the figures and names of a sentence. A message writes one as {{.Name}}, or
// with its unit as {{rate .Goodput}}; see [Language] for what there is. The argument N, a
// whole number, chooses the plural form of a message that has several.
type Args map[string]any

// Language makes the sentences of one language. English stands in for a message that
// that are missing in the language.
type Language struct {
	tag       language.Tag
	localizer *i18n.Localizer
	parser    parser
}

// bundle is read when the first sentence is made: a test's packets need none.
var bundle = sync.OnceValue(func() *i18n.Bundle {
	b := i18n.NewBundle(language.English)
	b.RegisterUnmarshalFunc("json", json.Unmarshal)
	names, err := Files.ReadDir(".")
	if err != nil {
		panic(err) // they are in the binary
	}
	for _, f := range names {
		if _, err := b.LoadMessageFileFS(Files, f.Name()); err != nil {
			panic(fmt.Sprintf("messages/%s: %v", f.Name(), err)) // a test reads them all
		}
	}
	return b
})

// English is the language that every message is written in first, with the functions of
// this package alone.
var English = sync.OnceValue(func() *Language { return New(language.English, nil) })

// New returns a language whose messages may also call the given functions. A message is
// parsed by the language that uses it first: one that calls such a function must be used
// through languages that have it.
func New(tag language.Tag, functions texttemplate.FuncMap) *Language {
	l := &Language{tag: tag, localizer: i18n.NewLocalizer(bundle(), tag.String())}
	all := l.functions()
	maps.Copy(all, functions)
	l.parser = parser{template.TextParser{Funcs: all, Option: "missingkey=error"}}
	return l
}

// parser keeps parsed templates: its functions are the same for every message.
type parser struct{ template.TextParser }

func (*parser) Cacheable() bool { return true }

// Tag is the language (BCP 47): en.
func (l *Language) Tag() string { return l.tag.String() }

// Say makes the sentence of a key. It fails on a key or an argument that is missing,
// which is a defect that tests find.
func (l *Language) Say(key string, args Args) (string, error) {
	config := &i18n.LocalizeConfig{MessageID: key, TemplateData: map[string]any(args), TemplateParser: &l.parser}
	if n, ok := args["N"]; ok {
		config.PluralCount = n
	}
	return l.localizer.Localize(config)
}

// Has reports whether the language, or English, has a message of that key.
func (l *Language) Has(key string) bool {
	_, err := l.localizer.Localize(&i18n.LocalizeConfig{MessageID: key, TemplateParser: template.IdentityParser{}})
	return err == nil
}

// Parse reads the template of one message.
func (l *Language) Parse(text string) (template.ParsedTemplate, error) {
	return l.parser.Parse(text, "", "")
}

// OrKey is the sentence of a key, or the key and its arguments where it cannot be made: a
// person must see something where the program has a defect.
func (l *Language) OrKey(key string, args Args) string {
	s, err := l.Say(key, args)
	if err != nil {
		return fmt.Sprintf("%s %v", key, args)
	}
	return s
}

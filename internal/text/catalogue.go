package text

import (
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"sync"

	"github.com/nicksnyder/go-i18n/v2/i18n"
	"github.com/nicksnyder/go-i18n/v2/i18n/template"
	"golang.org/x/text/language"
)

//go:embed messages/*.json
var files embed.FS

// Args are the figures and names of a sentence. A message writes one as {{.Name}}, or
// with its unit as {{rate .Goodput}}; see funcs.go for what there is. The argument
// N, a whole number, chooses the plural form of a message that has several.
type Args map[string]any

// Catalogue is the messages of one language. English stands in for a message that
// the language lacks.
type Catalogue struct {
	tag       language.Tag
	localizer *i18n.Localizer
	parser    templateParser
}

// English is the catalogue that every message is written in first.
var English = sync.OnceValue(func() *Catalogue { return newCatalogue(language.English) })

// bundle is read when the first sentence is made: a test's packets need none.
var bundle = sync.OnceValue(func() *i18n.Bundle {
	b := i18n.NewBundle(language.English)
	b.RegisterUnmarshalFunc("json", json.Unmarshal)
	names, err := files.ReadDir("messages")
	if err != nil {
		panic(err) // they are in the binary
	}
	for _, f := range names {
		if _, err := b.LoadMessageFileFS(files, path.Join("messages", f.Name())); err != nil {
			panic(fmt.Sprintf("messages/%s: %v", f.Name(), err)) // a test reads them all
		}
	}
	return b
})

func newCatalogue(tag language.Tag) *Catalogue {
	c := &Catalogue{tag: tag, localizer: i18n.NewLocalizer(bundle(), tag.String())}
	c.parser = templateParser{template.TextParser{Funcs: c.funcs(), Option: "missingkey=error"}}
	return c
}

// Language is the tag of the language (BCP 47): en.
func (c *Catalogue) Language() string { return c.tag.String() }

// templateParser keeps parsed templates: its functions are the same for every message.
type templateParser struct{ template.TextParser }

func (*templateParser) Cacheable() bool { return true }

// Say makes the sentence of a key. A key or an argument that is missing is a defect,
// which tests find; a person then sees the key and the arguments.
func (c *Catalogue) Say(key string, args Args) string { return c.sentence(key, args) }

// SayFor is Say for the variant of a message that is of one thing, such as a test or a
// metric: the message KEY.VARIANT where there is one, else KEY. A variant may leave out
// arguments that the key writes.
func (c *Catalogue) SayFor(variant, key string, args Args) string {
	if special := key + "." + variant; c.Has(special) {
		key = special
	}
	return c.sentence(key, args)
}

func (c *Catalogue) sentence(key string, args Args) string {
	s, err := c.say(key, args)
	if err != nil {
		return fmt.Sprintf("%s %v", key, args)
	}
	return s
}

func (c *Catalogue) say(key string, args Args) (string, error) {
	config := &i18n.LocalizeConfig{MessageID: key, TemplateData: map[string]any(args), TemplateParser: &c.parser}
	if n, ok := args["N"]; ok {
		config.PluralCount = n
	}
	return c.localizer.Localize(config)
}

// Has tells whether the language, or English, has a message of that key.
func (c *Catalogue) Has(key string) bool {
	_, err := c.localizer.Localize(&i18n.LocalizeConfig{MessageID: key, TemplateParser: template.IdentityParser{}})
	return err == nil
}

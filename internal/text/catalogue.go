package text

import (
	"io/fs"
	"sync"
	"text/template"

	"golang.org/x/text/language"

	"soku/internal/text/messages"
)

// Args are the figures and names of a sentence; see [messages.Args].
type Args = messages.Args

// Catalogue makes the sentences of one language. Its messages are read when the first
// sentence is made: a test's packets need none.
type Catalogue struct {
	tag      language.Tag
	language func() *messages.Language
}

// English is the catalogue that every message is written in first.
func English() *Catalogue { return english }

var english = newCatalogue(language.English, messages.English)

// ForPrograms is the catalogue of what programs read: documents, CSV, JSON, logs, the wire,
// and what stands in for the output of another tool (package dropin). It is English
// whatever language people read, so that what two hosts write can be compared, and
// searched for the same words.
func ForPrograms() *Catalogue { return english }

// For is the catalogue of a language (BCP 47), English where that has no message. Folders
// may have more files of messages than the program, or others: area.language.json.
func For(tag language.Tag, folders ...fs.FS) *Catalogue {
	return newCatalogue(tag, func() *messages.Language { return messages.New(tag, folders...) })
}

func newCatalogue(tag language.Tag, read func() *messages.Language) *Catalogue {
	c := &Catalogue{tag: tag}
	c.language = sync.OnceValue(func() *messages.Language {
		return read().With(template.FuncMap{
			// figure writes a value of a metric with its unit: {{figure .Metric .Value}}.
			"figure": c.figure,
			// figures writes several values of a metric, or the range of more than three.
			"figures": c.figures,
			// where writes the end or the direction that a finding is about.
			"where": c.Where,
			// mode writes the name of a mode of the loopback baseline.
			"mode": c.Mode,
			// timing writes how an end timed its messages.
			"timing": c.Timing,
		})
	})
	return c
}

// Language is the tag of the language (BCP 47): en.
func (c *Catalogue) Language() string { return c.tag.String() }

// Sentence makes the sentence of a key. A key or an argument that is missing is a defect,
// which tests find; a person then sees the key and the arguments.
func (c *Catalogue) Sentence(key string, args Args) string { return c.sentence(key, args) }

// SentenceFor is Sentence for a variant of a message, such as a test or a metric: the message
// KEY.VARIANT if it exists, otherwise KEY. A variant may leave out arguments that KEY writes.
func (c *Catalogue) SentenceFor(variant, key string, args Args) string {
	if special := key + "." + variant; c.Has(special) {
		key = special
	}
	return c.sentence(key, args)
}

func (c *Catalogue) sentence(key string, args Args) string { return c.language().OrKey(key, args) }

// Has reports whether the language, or English, has a message of that key.
func (c *Catalogue) Has(key string) bool { return c.language().Has(key) }

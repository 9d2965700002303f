package report

import (
	"encoding/json"
	"reflect"

	"soku/internal/measure"
	"soku/internal/text"
)

// Tool is a program that made results, with its protocol. In JSON it is a text.
type Tool struct {
	Name, Version, Protocol string
	Source                  *Source // of results that were ingested by it
	text                    string  // of a tool that was read from a document
}

// Source is a program or a publication that results were taken over from. Its JSON form
// also has the member text, in words.
type Source struct {
	Tool    string `json:"tool,omitempty"` // empty: a table
	Version string `json:"tool_version,omitempty"`
	Source  string `json:"source,omitempty"` // what the mapping of a table says of it
	Trials  int    `json:"trials,omitempty"`
}

func sourceOf(r *measure.Result) Source {
	return Source{Tool: r.Origin.Tool, Version: r.Origin.ToolVersion, Source: r.Origin.Source}
}

// MarshalJSON writes the source as data and in words.
func (s Source) MarshalJSON() ([]byte, error) {
	type plain Source
	return json.Marshal(struct {
		Text string `json:"text"`
		plain
	}{s.in(text.ForPrograms()), plain(s)})
}

func (s Source) in(c *text.Catalogue) string {
	return c.Sentence("source", text.Args{"Tool": s.Tool, "Version": s.Version, "Source": s.Source})
}

// MarshalJSON writes the tool in words.
func (t Tool) MarshalJSON() ([]byte, error) { return json.Marshal(t.in(text.ForPrograms())) }

// UnmarshalJSON reads the words.
func (t *Tool) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, &t.text) }

func (t Tool) in(c *text.Catalogue) string {
	if t.text != "" {
		return t.text
	}
	args := text.Args{"Name": t.Name, "Version": t.Version, "Protocol": t.Protocol, "Source": ""}
	if t.Source != nil {
		args["Source"] = t.Source.in(c)
	}
	return c.Sentence("tool", args)
}

func (t Tool) equal(o Tool) bool { return reflect.DeepEqual(t, o) }

// order is what tools are sorted by, whatever the language.
func (t Tool) order() string { return t.in(text.ForPrograms()) }

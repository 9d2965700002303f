package printer

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"soku/internal/report/outline"
)

// elements are those of a file of SVG with their texts, an error if it is not well-formed.
func elements(file []byte) (names []string, texts map[string]string, err error) {
	d := xml.NewDecoder(bytes.NewReader(file))
	texts = map[string]string{}
	var open []string
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return names, texts, nil
		}
		if err != nil {
			return nil, nil, err
		}
		switch e := token.(type) {
		case xml.StartElement:
			if e.Name.Space != "http://www.w3.org/2000/svg" {
				return nil, nil, fmt.Errorf("%s is in the namespace %q", e.Name.Local, e.Name.Space)
			}
			names, open = append(names, e.Name.Local), append(open, e.Name.Local)
			for _, a := range e.Attr {
				if name := strings.ToLower(a.Name.Local); strings.HasPrefix(name, "on") || strings.HasSuffix(name, "href") || name == "style" || name == "src" {
					return nil, nil, fmt.Errorf("%s has the attribute %s", e.Name.Local, name)
				}
			}
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 && texts[open[len(open)-1]] == "" {
				texts[open[len(open)-1]] = string(e)
			}
		}
	}
}

func TestAPictureStandsAlone(t *testing.T) {
	for _, evil := range []string{"word", "<script>&\x1b[31m\u202e|</title></style>", "a\uffffb\ufffe\x00", `" onload="x`, "]]>"} {
		for _, p := range Pictures(document(evil)) {
			var b bytes.Buffer
			if err := SVG(&b, p); err != nil {
				t.Fatal(err)
			}
			names, texts, err := elements(b.Bytes())
			if err != nil || names[0] != "svg" || slices.Contains(names, "script") || strings.TrimSpace(texts["title"]) == "" || strings.TrimSpace(texts["desc"]) == "" {
				t.Errorf("%q: %v, %q, title %q, description %q", evil, err, names, texts["title"], texts["desc"])
			}
			if style := texts["style"]; !strings.Contains(style, "@media (prefers-color-scheme: dark)") || strings.Contains(style, "url(") || strings.Contains(style, "@import") {
				t.Errorf("style %q", style)
			}
		}
	}
}

// The meaning of a colour stands below a chart in a page, and in the picture in a file of its own.
func TestAPictureHasItsLegend(t *testing.T) {
	chart := outline.Chart{ID: "t1-p-wide", Class: "wide", Title: "title", Width: 200, Height: 100}
	narrow := chart
	narrow.ID, narrow.Class = "t1-p-narrow", "narrow"
	d := &outline.Document{Sections: []outline.Section{{Blocks: []outline.Block{{Charts: &outline.Charts{
		Legend:  []outline.Legend{{Series: 3, Text: "of all"}},
		Figures: []outline.Figure{{Caption: "caption", Charts: []outline.Chart{chart, narrow}, Legend: []outline.Legend{{Text: "first"}, {Series: 1, Text: strings.Repeat("long ", 40)}, {Series: 2, Text: "third"}}}},
	}}}}}}
	all := Pictures(d)
	if len(all) != 1 || all[0].Name != "t1-p" || all[0].Caption != "caption" || all[0].chart.Desc != "caption" {
		t.Fatalf("%+v", all)
	}
	c := all[0].chart
	if len(c.Texts) != 4 || len(c.Lines) != 4 || c.Lines[0].Series != 3 || c.Texts[3].Text != "third" {
		t.Fatalf("%+v", c)
	}
	for _, s := range c.Texts {
		if s.Y <= 100 || s.Y >= c.Height || s.X+float64(columnsOf(s.Text)*charPixels) > c.Width {
			t.Errorf("%q at %v, %v of %v, %v", s.Text, s.X, s.Y, c.Width, c.Height)
		}
	}
	if len(chart.Lines) != 0 {
		t.Error("the outline was changed")
	}
}

func TestAPageHasTheStyleOfPictures(t *testing.T) {
	css, err := styles("chart.css")
	if err != nil || !strings.Contains(pageOf(t, document("word")), string(css)) {
		t.Errorf("the page has other rules of charts (%v)", err)
	}
}

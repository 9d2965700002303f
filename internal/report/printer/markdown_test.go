package printer

import (
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"soku/internal/report/outline"
	messages "soku/internal/text"
)

// parsed are the tables, as rows and columns, the files of pictures and the pieces of HTML of
// Markdown, as another program reads it.
func parsed(t *testing.T, md string) (sizes [][2]int, pictures []string, html int) {
	t.Helper()
	tree := goldmark.New(goldmark.WithExtensions(extension.Table)).Parser().Parse(text.NewReader([]byte(md)))
	err := ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *tables.Table:
			sizes = append(sizes, [2]int{n.ChildCount() - 1, n.FirstChild().ChildCount()})
		case *ast.Image:
			pictures = append(pictures, string(n.Destination))
		case *ast.HTMLBlock, *ast.RawHTML:
			html++
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sizes, pictures, html
}

func TestMarkdownHasEveryTableAndPicture(t *testing.T) {
	for _, evil := range []string{"word", "<script>&|*_`", "a|b\n# h [x](y)](z) ![i](j)", strings.Repeat("名", 300), "</details>"} {
		for _, plain := range []bool{false, true} {
			d := document(evil)
			var b strings.Builder
			if err := Markdown(&b, d, messages.English(), MarkdownOptions{Plain: plain, Picture: func(name string) string { return name + ".svg" }}); err != nil {
				t.Fatal(err)
			}
			want := 0
			for _, s := range d.Sections {
				for _, block := range s.Blocks {
					want += len(block.Tables)
				}
			}
			sizes, pictures, html := parsed(t, b.String())
			if len(sizes) != want || sizes[0] != [2]int{1, 2} || len(pictures) != len(Pictures(d)) || pictures[0] != Pictures(d)[0].Name+".svg" {
				t.Errorf("%q: tables %v of %d, pictures %q of %d:\n%s", evil, sizes, want, pictures, len(Pictures(d)), b.String())
			}
			if (html == 0) != plain {
				t.Errorf("%q, plain %v: %d pieces of HTML", evil, plain, html)
			}
		}
	}
}

func TestMarkdownBeginsWithTheAnswersOfAllTests(t *testing.T) {
	block := outline.Block{Style: outline.Answers, Lines: []string{"A is best", "B is next"}}
	d := &outline.Document{Title: "title", Sections: []outline.Section{{ID: "a", Title: "tcp", Heading: "tcp: goodput", Blocks: []outline.Block{block}}}}
	if md, want := markdownOf(t, d), "# title\n\n## Answer\n\n**tcp:** A is best\n\n- B is next\n\n## tcp: goodput\n"; md != want {
		t.Errorf("%q", md)
	}
	d.Sections = append(d.Sections, outline.Section{ID: "b", Title: "udp", Blocks: []outline.Block{block}})
	if md, want := markdownOf(t, d), "# title\n\n## Answers\n\n**tcp:** A is best\n\n**udp:** A is best\n\n## tcp: goodput\n\n**A is best**\n\n- B is next\n\n## udp\n\n**A is best**\n\n- B is next\n"; md != want {
		t.Errorf("%q", md)
	}
	d.Title = "" // a part of another document
	if md, want := markdownOf(t, d), "## tcp: goodput\n\n**A is best**\n\n- B is next\n\n## udp\n\n**A is best**\n\n- B is next\n"; md != want {
		t.Errorf("%q", md)
	}
}

package printer

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/language"

	"soku/internal/report/outline"
	"soku/internal/text"
)

// rows are rows of texts.
func rows(all ...[]string) (out []outline.Row) {
	for _, texts := range all {
		var r outline.Row
		for _, s := range texts {
			r.Cells = append(r.Cells, outline.Cell{Text: s})
		}
		out = append(out, r)
	}
	return out
}

// lines are the lines of a document of these blocks on a terminal of that width.
func lines(t *testing.T, width int, blocks ...outline.Block) []string {
	t.Helper()
	var b strings.Builder
	if err := Text(&b, &outline.Document{Sections: []outline.Section{{ID: "s", Title: "title", Blocks: blocks}}}, text.English(), width); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

func markdownOf(t *testing.T, d *outline.Document) string {
	t.Helper()
	var b strings.Builder
	if err := Markdown(&b, d, text.English(), MarkdownOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func pageOf(t *testing.T, d *outline.Document) string {
	t.Helper()
	var b strings.Builder
	if err := HTML(&b, d, text.English()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestANarrowTableLosesItsLeastImportantColumnsFirst(t *testing.T) {
	var whole outline.Table
	for i, drop := range []int{0, 0, 3, 1, 5, 0, 4, 5} {
		whole.Columns = append(whole.Columns, outline.Column{Name: strings.Repeat("c", 6+i), Number: i > 0, Drop: drop})
	}
	whole.Columns[3].With = true // is left out with the column before it
	g := gridOf(whole)
	last, worst := len(whole.Columns)+1, 1000
	for width := 120; width >= 10; width-- {
		columns := g.fit(width).columns
		if len(columns) < last {
			kept := 0
			for _, c := range columns {
				kept = max(kept, c.Drop)
			}
			if kept > worst {
				t.Fatalf("at %d columns a column of importance %d came back", width, kept)
			}
			worst, last = kept, len(columns)
		}
		third := slices.ContainsFunc(columns, func(c outline.Column) bool { return c.Drop == 3 })
		if third != slices.ContainsFunc(columns, func(c outline.Column) bool { return c.With }) {
			t.Errorf("at %d columns one of two that belong together is left out", width)
		}
	}
	if last != 3 {
		t.Errorf("%d columns remain, want those that always stay", last)
	}
}

func TestATableThatStaysWholeGoesOnBelow(t *testing.T) {
	wide := outline.Table{
		Columns: []outline.Column{{Name: "row", Head: true}, {Name: "aaaaaaaa", Number: true}, {Name: "bbbbbbbb", Number: true}, {Name: "cccccccccccccccccccccccc", Number: true}},
		Rows:    rows([]string{"x", "1", "2", text.Absent}, []string{"y", "3", text.Absent, "4"}),
	}
	if parts := gridOf(wide).split(60); len(parts) != 1 || len(parts[0].rows) != 2 {
		t.Errorf("%+v", parts)
	}
	parts := gridOf(wide).split(24)
	if len(parts) != 2 || len(parts[0].columns) != 3 || len(parts[0].rows) != 2 || len(parts[1].columns) != 2 || !slices.Equal(parts[1].rows[0], []string{"y", "4"}) {
		t.Errorf("%+v", parts)
	}
}

func TestATerminalNamesAPatternInOneColumn(t *testing.T) {
	table := outline.Table{
		Columns: []outline.Column{{Name: "sku", Head: true}, {Name: "zone", Head: true}, {Name: "rate", Number: true}},
		Rows:    rows([]string{"basic", "1", "10"}, []string{"ultra", "2", "20"}),
	}
	table.Rows[0].Name, table.Rows[1].Name = "basic / 1", "ultra / 2"
	want := []string{"title", "", "  patterns: sku / zone", "  pattern    rate", "  basic / 1    10", "  ultra / 2    20", "", "  more", "  pattern    rate", "  basic / 1    10", "  ultra / 2    20"}
	if got := lines(t, 60, outline.Block{Tables: []outline.Table{table}}, outline.Block{Heading: "more", Tables: []outline.Table{table}}); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	table.Rows[0].Name, table.Rows[1].Name = "", ""
	if got := lines(t, 60, outline.Block{Tables: []outline.Table{table}}); got[2] != "  sku    zone  rate" {
		t.Errorf("%q", got)
	}
}

func TestATerminalLeavesOutWhatItHasNoRoomFor(t *testing.T) {
	table := outline.Table{Columns: []outline.Column{{Name: "a", Head: true}}, Rows: rows([]string{"first"}, []string{"minor"}), Note: "the best"}
	table.Rows[1].Minor = true
	want := []string{"title", "", "  the best", "  a", "  first"}
	charts := &outline.Charts{Figures: []outline.Figure{{Caption: "drawn"}}}
	got := lines(t, 60, outline.Block{Tables: []outline.Table{table}}, outline.Block{Heading: "options", Place: outline.Details, Lines: []string{"x"}}, outline.Block{Heading: "chart", Charts: charts})
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	table.Rows[1].Minor = false
	if got := lines(t, 60, outline.Block{Tables: []outline.Table{table}}); len(got) != 5 || got[2] != "  a" {
		t.Errorf("%q", got)
	}
}

func TestATerminalWritesSentencesBelowTheirTable(t *testing.T) {
	table := outline.Table{Columns: []outline.Column{{Name: "a", Head: true}, {Name: "why", Prose: true}}, Rows: rows([]string{"x", "best"}, []string{"y", text.Absent}, []string{"z", "slow"})}
	for i, name := range []string{"X", "Y", "Z"} {
		table.Rows[i].Name = name
	}
	want := []string{"title", "", "  a", "  x", "  y", "  z", "    X: best", "    Z: slow"}
	if got := lines(t, 60, outline.Block{Tables: []outline.Table{table}}); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for i := range table.Rows { // one sentence for all
		table.Rows[i].Cells[1].Text = "one round"
	}
	want = append(want[:6:6], "    one round")
	if got := lines(t, 60, outline.Block{Tables: []outline.Table{table}}); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// document has every kind of block with markup in every text.
func document(evil string) *outline.Document {
	table := outline.Table{
		Caption: evil, Note: evil, Scale: &outline.Scale{Best: evil, Worst: evil}, Columns: []outline.Column{{Name: evil, Head: true}, {Name: evil, Unit: evil, Number: true, Why: evil}},
		Rows: []outline.Row{{Name: evil, Cells: []outline.Cell{{Text: evil}, {Text: evil, Title: evil, Shade: 3}}}},
	}
	chart := outline.Chart{ID: "x", Title: evil, Desc: evil, XTitle: evil, Texts: []outline.ChartText{{Text: evil, Title: evil}}, Lines: []outline.Shape{{Class: "curve", Title: evil}}}
	d := &outline.Document{Title: evil, Subtitle: evil}
	for _, id := range []string{"a", "b"} {
		d.Sections = append(d.Sections, outline.Section{ID: id, Title: evil, Description: evil, Blocks: []outline.Block{
			{Lines: []string{evil, evil}, Style: outline.Answers}, {Lines: []string{evil}, Style: outline.Caveats}, {Lines: []string{evil}},
			{Key: "table", Heading: evil, Tables: []outline.Table{table}},
			{Key: "list", Heading: evil, Fold: outline.Closed, Lines: []string{evil}, Style: outline.List},
			{Key: "tags", Heading: evil, Fold: outline.Open, Lines: []string{evil}, Style: outline.Tags},
			{Key: "code", Heading: evil, Fold: outline.Hidden, Lines: []string{evil}, Style: outline.Code},
			{Key: "chart", Heading: evil, Charts: &outline.Charts{Figures: []outline.Figure{{Caption: evil, Charts: []outline.Chart{chart}, Legend: []outline.Legend{{Text: evil}}}}}},
			{Key: "panels", Heading: evil, Charts: &outline.Charts{Panels: true, Legend: []outline.Legend{{Text: evil}}, Figures: []outline.Figure{{Caption: evil}}}},
		}})
	}
	return d
}

// Japanese has no spaces: lines break between characters, and no line begins with a full stop.
func TestATerminalBreaksJapaneseBetweenCharacters(t *testing.T) {
	p := &terminal{width: 40, Catalogue: text.For(language.Japanese)}
	p.wrap("  ", "最速は FastPath（中央値 1.782 ms）。次点のゾーン 2 は 10.0 % 大きい（6 ラウンド）。差は 3 ラウンドで確認。")
	const want = "  最速は FastPath（中央値 1.782 ms）。次\n    点のゾーン 2 は 10.0 % 大きい（6 ラ\n    ウンド）。差は 3 ラウンドで確認。\n"
	if got := p.String(); got != want {
		t.Errorf("\n%s, want\n%s", got, want)
	}
}

func TestTextsAreNoMarkup(t *testing.T) {
	d := document("<script>&\x1b[31m\u202e|*_`")
	page := pageOf(t, d)
	if strings.Contains(page, "<script") || strings.ContainsAny(page, "\x1b\u202e") || strings.Count(page, "&lt;script&gt;") < 50 {
		t.Errorf("the page has a text as markup, or not all texts:\n%s", page[strings.Index(page, "</style>"):])
	}
	md := markdownOf(t, d)
	for line := range strings.Lines(md) {
		if fenced := strings.HasPrefix(line, "<script>"); strings.Contains(line, "<script") && !fenced || strings.ContainsAny(line, "\x1b\u202e") {
			t.Errorf("Markdown has %q", line)
		}
	}
}

func TestAPageFoldsWhatTheOutlineFolds(t *testing.T) {
	d := document("word")
	page := pageOf(t, d)
	for _, want := range []string{
		`<details><summary id="a-list">word</summary>`, `<details open><summary id="a-tags">`, `<details class="folded"><summary id="a-code">`, `<h3 id="b-table">`,
		`aria-labelledby="b-table"><table class="table heat">`, `<p class="answer">word</p>`, `<a href="#a">word</a>`, `class="n h2"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	d.Sections = d.Sections[:1]
	d.Sections[0].Blocks[3].Tables[0].Drawn = true
	if page := pageOf(t, d); strings.Contains(page, `class="answer"`) || !regexp.MustCompile(`<details class="folded"><summary id="a-table-figures">Figures of the chart</summary>\s+<p class="caption">word</p>\s+<div class="scroll" role="region" tabindex="0" aria-labelledby="a-table-figures">`).MatchString(page) || strings.Count(page, "<tbody") != 1 {
		t.Errorf("the answer of the only test is there twice, or a table that the chart draws is not folded:\n%s", page[strings.Index(page, "</style>"):])
	}
	if md := markdownOf(t, d); !strings.Contains(md, "### word: word\n\n**word**\n\n| word | word (word) |") || !strings.Contains(md, "<details><summary>word: word</summary>\n\n- word\n\n</details>") {
		t.Errorf("Markdown is\n%s", md)
	}
}

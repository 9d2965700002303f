package report

import (
	"strings"
	"unicode/utf8"

	"soku/internal/report/outline"
	"soku/internal/text"
)

// repeat is how to measure the same again, to get its data, and to name the report in a text.
func (v reportView) repeat() (out []outline.Section) {
	again := outline.Section{ID: "repeat", Title: v.Sentence("page.repeat", nil)}
	var lines []string
	if v.Campaign.Plan != "" {
		lines = append(lines, v.Sentence("repeat.plan", text.Args{"File": v.Campaign.Name + ".yaml", "Seed": v.Campaign.Seed}))
	}
	if v.dataURL != "" {
		lines = append(lines, v.Sentence("repeat.data", text.Args{"URL": v.dataURL, "Campaign": v.Campaign.ID}))
	}
	again.Blocks = append(again.Blocks, outline.Block{Place: outline.Details, Lines: lines, Style: outline.List})
	if v.Campaign.Plan != "" {
		again.Blocks = append(again.Blocks, outline.Block{
			Key: "plan", Heading: v.Sentence("page.plan", nil), Fold: outline.Closed, Place: outline.Details, Style: outline.Code, Lines: []string{v.Campaign.Plan},
		})
	}
	if len(lines) > 0 {
		out = append(out, again)
	}
	if v.Campaign.ID == "" {
		return out
	}
	cite := v.Sentence("cite", text.Args{"Title": v.asSentence(v.title()), "Period": v.period(), "Campaign": v.Campaign.ID, "Trials": v.Trials, "Tools": v.tools(), "URL": v.dataURL})
	return append(out, outline.Section{ID: "cite", Title: v.Sentence("page.cite", nil), Blocks: []outline.Block{{Place: outline.Details, Lines: []string{cite}}}})
}

// asSentence is a title with a mark at its end.
func (v reportView) asSentence(title string) string {
	if last, _ := utf8.DecodeLastRuneInString(title); strings.ContainsRune(".?!。？！", last) {
		return title
	}
	return v.Sentence("sentence.end", text.Args{"Title": title})
}

// tools are the programs that made the results.
func (v reportView) tools() (out []string) {
	for _, tool := range v.Tools {
		out = append(out, tool.in(v.Catalogue))
	}
	return out
}

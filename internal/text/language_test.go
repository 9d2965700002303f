package text

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/text/language"

	"soku/internal/measure/metric"
)

// german has a few messages, as a translator begins.
func german() *Catalogue {
	return For(language.German, fstest.MapFS{"some.de.json": {Data: []byte(`{
		"list.last": "{{.First}} und {{.Last}}",
		"count.round": {"one": "{{.N}} Runde", "other": "{{.N}} Runden"},
		"label.goodput": "Durchsatz"
	}`)}})
}

func TestEnglishStandsInForAMessageThatALanguageLacks(t *testing.T) {
	c := german()
	for key, want := range map[string]string{"label.goodput": "Durchsatz", "label.moved": "moved"} {
		if got := c.Sentence(key, nil); got != want || !c.Has(key) {
			t.Errorf("%s: %q, want %q; there is one: %v", key, got, want, c.Has(key))
		}
	}
	if got := c.Sentence("count.hop", Args{"N": 1}); got != "1 hop" { // the English plural
		t.Error(got)
	}
	if got := c.Sentence("count.hop", Args{"Other": 7}); !strings.Contains(got, "count.hop") || c.Has("no.such.message") {
		t.Errorf("a defect of the English message is shown as %q", got)
	}
}

// The functions that a message calls are those of the language that says it, whichever
// language said it first.
func TestLanguagesWriteTheirOwnListsAndCounts(t *testing.T) {
	for _, c := range []struct {
		catalogue *Catalogue
		want      []string
	}{
		{german(), []string{"a und b", "1 Runde"}},
		{English(), []string{"a and b", "1 round."}},
		{For(language.Japanese), []string{"a と b", "1 ラウンド"}},
		{For(language.French), []string{"a and b", "1 round."}},
	} {
		got := c.catalogue.Sentence("answer.no_difference", Args{
			"Patterns": []string{"a", "b"}, "Metric": metric.Goodput, "Estimates": []float64{1e6}, "Rounds": 1, "OtherRun": false, "Shared": "",
		})
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in %q", c.catalogue.Language(), want, got)
			}
		}
	}
}

func TestARegionHasTheMessagesOfItsLanguage(t *testing.T) {
	c := For(language.MustParse("ja-JP"))
	if got := c.Sentence("label.goodput", nil); got != "スループット" || c.Language() != "ja-JP" {
		t.Errorf("%s: %q", c.Language(), got)
	}
}

// chooser is the file that chooses the language that people read. Everything else is
// handed its catalogue, or takes that of programs.
const chooser = "../cli/language.go"

func TestOnePlaceChoosesTheLanguage(t *testing.T) {
	var found []string
	eachSource(t, func(path string, f *ast.File, _ func(ast.Node) string) {
		ast.Inspect(f, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if of, ok := s.X.(*ast.Ident); ok && of.Name == "text" && (s.Sel.Name == "English" || s.Sel.Name == "For") {
				found = append(found, path)
			}
			return true
		})
	})
	if found = slices.Compact(found); !slices.Equal(found, []string{chooser}) {
		t.Errorf("these choose a language: %q; want %s alone", found, chooser)
	}
}

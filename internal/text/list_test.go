package text

import (
	"testing"

	"golang.org/x/text/language"
)

func TestSentencesAreJoinedAsTheLanguageDoes(t *testing.T) {
	for want, got := range map[string]string{
		"It rises. It falls.": English().Paragraph("It rises.", "", "It falls."),
		"増加する。減少する。":          For(language.Japanese).Paragraph("", "増加する。", "減少する。"),
		"":                    English().Paragraph(),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

package plan

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"soku/internal/measure"
	"soku/internal/yamlfile"
)

// isCampaignName reports whether text can name a campaign and its files.
func isCampaignName(text string) bool { return isName(text, "._-") }

// IsEndpointName reports whether text can name an endpoint or an address of one. It has
// no dot, which separates the two in a reference.
func IsEndpointName(text string) bool { return isName(text, "_-") }

// isName reports whether text has 1 to 64 characters, a letter or digit of any script
// first and after that also combining marks and those of punctuation.
func isName(text, punctuation string) bool {
	for i, r := range text {
		first := unicode.IsLetter(r) || unicode.IsNumber(r)
		if !first && (i == 0 || !unicode.IsMark(r) && !strings.ContainsRune(punctuation, r)) {
			return false
		}
	}
	n := utf8.RuneCountInString(text)
	return n >= 1 && n <= 64
}

// hostCharacters are those of a host's name or an IP address with its zone.
var hostCharacters = regexp.MustCompile(`^[A-Za-z0-9.:%_-]+$`)

func isHost(text string) bool { return len(text) <= 255 && hostCharacters.MatchString(text) }

// notPrintable is the code of the hint why a name cannot stand in a table, or "" if it can.
func notPrintable(name string) (hint string) {
	switch {
	case strings.TrimSpace(name) == "":
		return "campaign.name_is_empty"
	case len([]rune(name)) > maxName:
		return "campaign.name_is_long"
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "campaign.name_is_unprintable"
	}
	return ""
}

// suggest gives e the hint which of the known names was probably meant, or, where there
// is none, the hint of a code, which has them all.
func suggest(e *measure.Error, name string, known []string, all string) *measure.Error {
	if near := yamlfile.Nearest(name, known); near != "" {
		return e.WithHintCode("campaign.did_you_mean", measure.Figures{"near": near})
	}
	return e.WithHintCode(all, measure.Figures{"known": known})
}

// FactorVariable is the environment variable that tells commands a factor's
// level: SOKU_FACTOR_ and the name in capitals, other characters as "_".
func FactorVariable(name string) string {
	return "SOKU_FACTOR_" + strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z' || r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, name)
}

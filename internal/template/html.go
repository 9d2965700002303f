package template

import "strings"

// EscapeHTML is a text that stands in the text of a page, or in an attribute within quotes,
// as it is. Elsewhere, such as in a script, a style or the beginning of a URL, it is not
// enough: the test of the page's template in package report fails on such a place. It
// writes the same bytes as html/template does.
func EscapeHTML(s string) string { return htmlEscapes.Replace(s) }

var htmlEscapes = strings.NewReplacer(
	"\x00", "\uFFFD", `"`, "&#34;", "&", "&amp;", "'", "&#39;", "+", "&#43;", "<", "&lt;", ">", "&gt;",
)

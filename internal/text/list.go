package text

// List is names one after the other.
func (c *Catalogue) List(names []string) string { return c.language().List(names) }

// Paragraph is sentences one after the other, without those that are empty.
func (c *Catalogue) Paragraph(sentences ...string) (out string) {
	for _, s := range sentences {
		switch {
		case out == "":
			out = s
		case s != "":
			out = c.Sentence("sentence.join", Args{"First": out, "Next": s})
		}
	}
	return out
}

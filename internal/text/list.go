package text

import "strings"

// List is names one after the other.
func (c *Catalogue) List(names []string) string {
	return strings.Join(names, c.Say("list.separator", nil))
}

// phrases are parts one after the other that may have commas of their own.
func (c *Catalogue) phrases(parts []string) string {
	return strings.Join(parts, c.Say("list.phrases", nil))
}

// enumerate is names as a sentence lists them: a, b and c.
func (c *Catalogue) enumerate(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return c.Say("list.last", Args{"First": c.List(names[:last]), "Last": names[last]})
}

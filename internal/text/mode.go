package text

import "strings"

// Mode names a mode of the loopback baseline (package floor) that has the given name in
// documents. A mode that this version does not know keeps that name.
func (c *Catalogue) Mode(name string) string {
	separators := func(r rune) bool { return r == ' ' || r == ',' }
	key := strings.Join(strings.FieldsFunc(name, separators), "_")
	if c.Has("floor.mode." + key) {
		return c.Sentence("floor.mode."+key, nil)
	}
	return name
}

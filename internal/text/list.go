package text

// List is names one after the other.
func (c *Catalogue) List(names []string) string { return c.language().List(names) }

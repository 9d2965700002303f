package text

import "soku/internal/measure"

// Error makes the sentences of a failure: what went wrong, and what to do next (empty for
// nothing). Those of another program, or of a code that this version does not know, are as
// they were written.
func (c *Catalogue) Error(e *measure.Error) (message, hint string) { return e.Sentences(c.language) }

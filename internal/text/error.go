package text

import (
	"errors"

	"soku/internal/measure"
	"soku/internal/printable"
)

// Error makes the sentences of a failure: what went wrong, and what to do next (empty for
// nothing). Those of another program, or of a code that this version does not know, are as
// they were written.
func (c *Catalogue) Error(e *measure.Error) (message, hint string) {
	message, hint = e.Sentences(c.language())
	return printable.Line(message), printable.Line(hint)
}

// Failure makes of any error one text: of a failure its sentence and what to do next, of
// several that were joined all of theirs, of any other error its own text.
func (c *Catalogue) Failure(err error) string {
	if several := joined(err); len(several) > 0 {
		texts := make([]string, len(several))
		for i, one := range several {
			texts[i] = c.Failure(one)
		}
		return c.Sentence("failure.several", Args{"Errors": texts})
	}
	var e *measure.Error
	if !errors.As(err, &e) || e.Error() != err.Error() { // one around it has a text of its own
		return printable.Line(err.Error())
	}
	message, hint := c.Error(e)
	if hint == "" {
		return message
	}
	return c.Sentence("failure.hinted", Args{"Message": message, "Hint": hint})
}

// joined are the errors of which [errors.Join] made err; none of another error.
func joined(err error) []error {
	var several interface{ Unwrap() []error }
	if !errors.As(err, &several) {
		return nil
	}
	errs := several.Unwrap()
	if err.Error() != errors.Join(errs...).Error() {
		return nil // others have a text of their own around them
	}
	return errs
}

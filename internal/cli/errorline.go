package cli

import (
	"fmt"
	"io"
	"strings"

	"soku/internal/printable"
	"soku/internal/text"
)

// errorText is the sentence of an error for a person, on one line.
func errorText(c *text.Catalogue, err error) string { return oneLine(c.Failure(err)) }

// printError writes the line with which a command says why it failed.
func printError(c *text.Catalogue, w io.Writer, err error) {
	fmt.Fprintln(w, c.Sentence("failure.line", text.Args{"Error": errorText(c, err)}))
}

// oneLine joins the lines of a text that may come from elsewhere, without control characters.
func oneLine(s string) string { return strings.Join(strings.Fields(printable.Line(s)), " ") }

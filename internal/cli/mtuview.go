package cli

import (
	"io"

	"soku/internal/measure"
	"soku/internal/printable"
	"soku/internal/text"
)

// mtuView writes one line over and over on a terminal while the search runs.
// Elsewhere it writes nothing.
type mtuView struct {
	w         io.Writer
	catalogue *text.Catalogue
	width     func() int
	drawn     bool
}

func (v *mtuView) draw(host string, s measure.MTUStep) {
	width := v.width()
	if width <= 0 {
		return
	}
	line := liveLine(host, width-1, func(host string) string { // the last column would wrap
		return v.catalogue.Sentence("live.mtu", text.Args{"Host": host, "Hop": s.Hop, "Passed": s.Passed, "Failed": s.Failed, "Size": s.Asking, "Flow": s.Flow + 1, "Flows": s.Flows})
	})
	printable.Draw(v.w, beginLine, line, endLine)
	v.drawn = true
}

// clear takes the line away.
func (v *mtuView) clear() {
	if v.drawn {
		printable.Draw(v.w, beginLine, endLine)
		v.drawn = false
	}
}

package cli

import (
	"fmt"
	"io"

	"soku/internal/measure"
	"soku/internal/text"
)

// mtuView writes one line over and over on a terminal while the search runs.
// Elsewhere it writes nothing.
type mtuView struct {
	w     io.Writer
	width func() int
	drawn bool
}

func (v *mtuView) draw(host string, s measure.MTUStep) {
	width := v.width()
	if width <= 0 {
		return
	}
	fmt.Fprint(v.w, "\r", liveLine("soku mtu ", host, mtuStepText(s), width-1), "\x1b[K") // the last column would wrap
	v.drawn = true
}

// mtuStepText says what is asked and what is known, in few words.
func mtuStepText(s measure.MTUStep) string {
	return text.English().Say("live.mtu", text.Args{"Hop": s.Hop, "Passed": s.Passed, "Failed": s.Failed, "Size": s.Asking})
}

// clear takes the line away.
func (v *mtuView) clear() {
	if v.drawn {
		fmt.Fprint(v.w, "\r\x1b[K")
		v.drawn = false
	}
}

package cli

import (
	"fmt"
	"io"

	"soku/internal/measure"
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
	switch {
	case s.Hop > 0:
		return fmt.Sprintf(": %d bytes pass; hop %d with %d", s.Passed, s.Hop, s.Asking)
	case s.Passed > 0 && s.Failed > 0:
		return fmt.Sprintf(": trying %d bytes; %d pass, %d do not", s.Asking, s.Passed, s.Failed)
	case s.Passed > 0:
		return fmt.Sprintf(": trying %d bytes; %d pass", s.Asking, s.Passed)
	}
	return fmt.Sprintf(": trying %d bytes", s.Asking)
}

// clear takes the line away.
func (v *mtuView) clear() {
	if v.drawn {
		fmt.Fprint(v.w, "\r\x1b[K")
		v.drawn = false
	}
}

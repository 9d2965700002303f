package text

import "soku/internal/measure"

// Timing writes how an end timed its messages, as a list of phrases. Values that this
// version does not know are left out.
func (c *Catalogue) Timing(t measure.Timing) string {
	if t.Tool != "" {
		return c.Sentence("timing.tool", Args{"Tool": t.Tool})
	}
	var parts []string
	if c.Has("timing.loop." + t.Loop) {
		parts = append(parts, c.Sentence("timing.loop."+t.Loop, Args{"Flows": t.Flows}))
	}
	if t.Call != "" {
		parts = append(parts, c.Sentence("timing.call", Args{"Call": t.Call, "Loop": t.Loop}))
	} else if c.Has("timing.clock." + t.Clock) {
		parts = append(parts, c.Sentence("timing.clock."+t.Clock, nil))
	}
	if c.Has("timing.wait." + t.Wait) {
		parts = append(parts, c.Sentence("timing.wait."+t.Wait, Args{"OwnThread": t.OwnThread}))
	}
	if t.Socket != "" {
		parts = append(parts, c.Sentence("timing.socket", Args{"Socket": t.Socket}))
	}
	return c.Sentence("timing", Args{"Parts": parts})
}

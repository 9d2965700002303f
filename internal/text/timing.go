package text

import "soku/internal/measure"

// Timing writes how an end timed its messages, as a list of phrases. Values that this
// version does not know are left out.
func (c *Catalogue) Timing(t measure.Timing) string {
	if t.Tool != "" {
		return c.Say("timing.tool", Args{"Tool": t.Tool})
	}
	var parts []string
	if c.Has("timing.loop." + t.Loop) {
		parts = append(parts, c.Say("timing.loop."+t.Loop, Args{"Flows": t.Flows}))
	}
	if t.Call != "" {
		parts = append(parts, c.Say("timing.call", Args{"Call": t.Call, "Loop": t.Loop}))
	} else if c.Has("timing.clock." + t.Clock) {
		parts = append(parts, c.Say("timing.clock."+t.Clock, nil))
	}
	if c.Has("timing.wait." + t.Wait) {
		parts = append(parts, c.Say("timing.wait."+t.Wait, Args{"OwnThread": t.OwnThread}))
	}
	if t.Socket != "" {
		parts = append(parts, c.Say("timing.socket", Args{"Socket": t.Socket}))
	}
	return c.Say("timing", Args{"Parts": parts})
}

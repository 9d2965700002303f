package hubcli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"soku/internal/cli"
	"soku/internal/hub/campaigns"
	"soku/internal/printable"
	"soku/internal/text"
)

// say prints a sentence.
func say(sys *cli.System, sentence string) error {
	_, err := fmt.Fprintln(sys.Stdout, sentence)
	return err
}

// view shows a campaign on standard error: events as lines and, on a terminal, a line that changes.
type view struct {
	sys    *cli.System
	quiet  bool
	events time.Time // of the newest that was shown
	asked  int64     // the question that was shown last
	done   int
	drawn  bool
}

func newView(sys *cli.System, quiet bool) *view { return &view{sys: sys, quiet: quiet, done: -1} }

// agents shows which agents have the labels that the plan names.
func (v *view) agents(s campaigns.State) {
	for _, labels := range slices.Sorted(maps.Keys(s.Agents)) {
		v.line(v.sys.Catalogue.Sentence("hub.run.agents", text.Args{"Labels": labels, "Agents": s.Agents[labels]}))
	}
}

func (v *view) draw(s campaigns.State) {
	if v.quiet {
		return
	}
	for _, e := range s.Events {
		if e.At.After(v.events) {
			v.events = e.At
			v.line(v.sys.Catalogue.Sentence("hub.run.event", text.Args{"Kind": e.Kind, "Host": e.Host, "Error": e.Error}))
		}
	}
	if s.Asks != nil && s.Asks.ID != v.asked {
		v.asked = s.Asks.ID
		v.line(v.sys.Catalogue.Sentence("hub.run.asks", text.Args{"Levels": levelsOf(v.sys, *s.Asks), "Number": s.Asks.Number, "Of": s.Asks.Of, "Campaign": s.Campaign}))
	}
	now := progressOf(v.sys, s)
	switch {
	case v.sys.Width() > 0:
		printable.Draw(v.sys.Stderr, "\r\x1b[K"+printable.Cut(now, v.sys.Width()-1))
		v.drawn = true
	case s.Done != v.done:
		v.line(now)
	}
	v.done = s.Done
}

func progressOf(sys *cli.System, s campaigns.State) string {
	return sys.Catalogue.Sentence("hub.run.progress", text.Args{
		"Done": s.Done, "Trials": s.Total, "Failed": s.Failed, "Running": len(s.Running), "Left": time.Duration(s.LeftNs).Round(time.Second),
	})
}

// line prints a line above the one that changes.
func (v *view) line(text string) {
	if v.quiet {
		return
	}
	v.end()
	_, _ = io.WriteString(v.sys.Stderr, text+"\n")
}

// end leaves the line that changes.
func (v *view) end() {
	if v.drawn {
		printable.Draw(v.sys.Stderr, "\r\x1b[K")
	}
	v.drawn = false
}

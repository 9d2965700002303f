package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"soku/internal/hub/users"
	"soku/internal/measure"
)

// Bounds of pages that follow a campaign.
const (
	mostLive     = 500             // simultaneously; others load themselves again
	longestLive  = time.Minute     // then the browser connects again, and the rights of its person are checked again
	liveEvery    = time.Second     // between two states that are sent
	liveAnyway   = 5 * time.Second // between two looks at what changes without a new state: agents that come and go
	liveDeadline = 10 * time.Second
)

// eventLines writes a page as the data of an event, whose lines end with either character.
var eventLines = strings.NewReplacer("\r", "", "\n", "\ndata: ")

// liveCampaignPage sends the part of a campaign's page that changes, as server-sent events: one immediately, and one
// whenever it is another. After the end of the campaign comes an event "end".
func (p *pages) liveCampaignPage(w http.ResponseWriter, r *http.Request, who users.Person) {
	run := p.Campaigns.Find(r.PathValue("campaign"))
	if run == nil {
		p.failure(w, who, measure.Fail(measure.KindNotFound, "hub.campaign.not_running", measure.Figures{"campaign": r.PathValue("campaign")}), 0)
		return
	}
	defer p.following.Add(-1)
	if p.following.Add(1) > mostLive {
		http.Error(w, http.StatusText(http.StatusServiceUnavailable), http.StatusServiceUnavailable)
		return
	}
	ctx, stop := context.WithTimeout(r.Context(), longestLive)
	defer stop()
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	sent, known := "", uint64(0)
	pause := time.NewTicker(liveEvery)
	defer pause.Stop()
	for {
		wait, cancel := context.WithTimeout(ctx, liveAnyway)
		state, version, err := run.Next(wait, known)
		cancel()
		if ctx.Err() != nil {
			return
		}
		if known = version; err != nil {
			state = run.State()
		}
		page := p.pageOf(state)
		var now strings.Builder
		if err := p.templates["campaign"].ExecuteTemplate(&now, "live", view{Person: who, Page: page}); err != nil {
			p.Log.Error("a page cannot be made", "page", "campaign", "error", err)
			return
		}
		_ = control.SetWriteDeadline(time.Now().Add(liveDeadline)) // not all connections have one
		if now.String() != sent {
			sent = now.String()
			_, err = fmt.Fprintf(w, "data: %s\n\n", eventLines.Replace(sent))
		} else {
			_, err = fmt.Fprint(w, ":\n\n") // which shows whether the browser is there
		}
		if err == nil && !page.Live {
			_, err = fmt.Fprint(w, "event: end\ndata:\n\n")
		}
		if err != nil || control.Flush() != nil || !page.Live {
			return
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return
		}
	}
}

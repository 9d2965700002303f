package web

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"sync"
	"time"

	"soku/internal/hub/users"
	"soku/internal/publish"
	"soku/internal/report/printer"
	"soku/internal/store"
)

// Bounds of the reports that are kept, so that a page that many look at is made once.
const (
	mostReports     = 20
	mostReportBytes = 64 << 20
)

// reports are pages of campaigns, each of the state in which it was made.
type reports struct {
	making chan struct{} // has room for who makes one: reports need memory

	mu    sync.Mutex
	kept  map[string]keptReport // by campaign
	bytes int
	now   func() time.Time
}

type keptReport struct {
	state string
	page  []byte
	used  time.Time
}

func newReports() *reports {
	return &reports{making: make(chan struct{}, 1), kept: map[string]keptReport{}, now: time.Now}
}

// stateOf is what a report of a campaign depends on.
func stateOf(c store.Campaign) string {
	return fmt.Sprintf("%d %d %d %s", c.Done, c.Failed, c.Trials, c.FinishedAt)
}

// get is the page of a campaign in a state, or nil.
func (k *reports) get(id, state string) []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	r, ok := k.kept[id]
	if !ok || r.state != state {
		return nil
	}
	r.used = k.now()
	k.kept[id] = r
	return r.page
}

// put keeps a page, and forgets those that were used least recently where there is no room.
func (k *reports) put(id, state string, page []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.drop(id)
	for len(k.kept) > 0 && (len(k.kept) >= mostReports || k.bytes+len(page) > mostReportBytes) {
		oldest := ""
		for other, r := range k.kept {
			if oldest == "" || r.used.Before(k.kept[oldest].used) {
				oldest = other
			}
		}
		k.drop(oldest)
	}
	if len(page) <= mostReportBytes {
		k.kept[id] = keptReport{state, page, k.now()}
		k.bytes += len(page)
	}
}

func (k *reports) drop(id string) {
	k.bytes -= len(k.kept[id].page)
	delete(k.kept, id)
}

// page is the page of a campaign, made by write unless there is one of its present state.
func (k *reports) page(ctx context.Context, c store.Campaign, write func() ([]byte, error)) ([]byte, error) {
	state := stateOf(c)
	if page := k.get(c.ID, state); page != nil {
		return page, nil
	}
	select {
	case k.making <- struct{}{}:
		defer func() { <-k.making }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if page := k.get(c.ID, state); page != nil { // made meanwhile
		return page, nil
	}
	page, err := write()
	if err == nil {
		k.put(c.ID, state, page)
	}
	return page, err
}

// withWayBack is the page of a report with a link to the page of its campaign.
func (p *pages) withWayBack(page []byte, id string) []byte {
	const body = "<body>\n"
	link := `<nav><a href="/campaigns/` + url.PathEscape(id) + `">` + html.EscapeString(p.Text.Sentence("web.report.back", nil)) + "</a></nav>\n"
	return bytes.Replace(page, []byte(body), []byte(body+link), 1)
}

// report shows the report of a campaign as soku report writes it.
func (p *pages) report(w http.ResponseWriter, r *http.Request, who users.Person) {
	c, err := p.Store.Campaign(r.Context(), r.PathValue("campaign"))
	if err != nil {
		p.failure(w, who, err, 0)
		return
	}
	page, err := p.reports.page(r.Context(), c, func() ([]byte, error) {
		known, err := p.Limits()
		if err != nil {
			return nil, err
		}
		made, err := publish.Campaign(r.Context(), known, p.Store, c, "")
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		err = made.HTML(&b, p.Text)
		return p.withWayBack(b.Bytes(), c.ID), err
	})
	if err != nil {
		p.failure(w, who, err, 0)
		return
	}
	source, err := printer.StyleSource()
	if err != nil {
		p.failure(w, who, err, 0)
		return
	}
	w.Header().Set("Content-Security-Policy", policyWith(source))
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(page) // a client that is gone
}

package web

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"soku/internal/hub"
	"soku/internal/hub/campaigns"
	"soku/internal/hub/users"
	"soku/internal/text"
)

// campaignPage is a campaign: one of this hub since it started, or one that its journal and the store have.
type campaignPage struct {
	ID, Name  string
	BeganAt   time.Time
	EndedAt   time.Time // zero: not known
	Live      bool      // it runs
	Counts    string
	Done      int
	Total     int
	Skipped   int
	Asks      *campaigns.Question
	Levels    []string // to which the person who is asked sets factors
	Running   []campaigns.Trial
	Rates     []string // of the running, by place
	Events    []eventRow
	Waits     []waitRow
	Agents    []labelled // that the plan names by labels
	HostsGone []string   // that went away and were not heard of since
	Why       *shownError
	Report    bool // there is a result
}

type eventRow struct {
	At   time.Time
	Text string
}

type waitRow struct{ Hosts, For []string }

// shownEvents is how many of the newest events are shown.
const shownEvents = 100

func (p *pages) campaignPage(w http.ResponseWriter, r *http.Request, who users.Person) {
	page, err := p.campaignOf(r)
	if err != nil {
		p.failure(w, who, err, 0)
		return
	}
	p.show(w, http.StatusOK, "campaign", view{Title: page.Name, Person: who, Live: page.Live, Page: page})
}

func (p *pages) campaignOf(r *http.Request) (campaignPage, error) {
	s, err := p.Campaigns.At(r.Context(), r.PathValue("campaign"))
	if err != nil {
		return campaignPage{}, err
	}
	return p.pageOf(s), nil
}

// counts is how far a campaign is.
func (p *pages) counts(s campaigns.State) string {
	return p.Text.Sentence("hub.run.progress", text.Args{
		"Done": s.Done, "Trials": s.Total, "Failed": s.Failed, "Running": len(s.Running), "Left": leftOf(s),
	})
}

func leftOf(s campaigns.State) string {
	if s.LeftNs <= 0 || s.EndedAt != nil {
		return ""
	}
	return roughly(time.Duration(s.LeftNs))
}

// pageOf is the page of a campaign in a state.
func (p *pages) pageOf(s campaigns.State) campaignPage {
	page := campaignPage{
		ID: s.Campaign, Name: s.Name, BeganAt: s.BeganAt, Live: s.Live, Counts: p.counts(s), Done: s.Done, Total: s.Total,
		Skipped: s.Skipped, Running: s.Running, Report: s.Done > 0,
	}
	if s.EndedAt != nil {
		page.EndedAt = *s.EndedAt
	}
	for _, labels := range slices.Sorted(maps.Keys(s.Agents)) {
		page.Agents = append(page.Agents, labelled{labels, s.Agents[labels]})
	}
	if s.Error != nil {
		page.Why = p.words(s.Error)
	}
	if page.Asks = s.Asks; s.Asks != nil {
		for _, l := range s.Asks.Levels {
			page.Levels = append(page.Levels, p.Text.Sentence("run.by_hand.level", text.Args{"Factor": l.Factor, "Level": l.Value}))
		}
	}
	for _, t := range s.Running {
		rate := ""
		if t.Bps > 0 {
			rate = p.Text.Sentence("web.campaign.rate", text.Args{"Bps": t.Bps})
		}
		page.Rates = append(page.Rates, rate)
	}
	for _, e := range s.Events {
		if e.Kind == "host_gone" && page.Live && e.Host != "" && !slices.Contains(page.HostsGone, e.Host) && p.away(e.Host) {
			page.HostsGone = append(page.HostsGone, e.Host)
		}
	}
	for _, e := range slices.Backward(s.Events[max(0, len(s.Events)-shownEvents):]) {
		why := ""
		if e.Error != nil {
			why, _ = p.Text.Error(e.Error)
		}
		page.Events = append(page.Events, eventRow{e.At, p.Text.Sentence("hub.run.event", text.Args{"Kind": e.Kind, "Host": e.Host, "Error": why})})
	}
	if page.Live {
		page.Waits = p.waits(s.Campaign)
	}
	return page
}

// away reports whether an agent is known not to be connected.
func (p *pages) away(name string) bool {
	a, err := p.Agents.Find(name)
	return err != nil || a.State != hub.Connected
}

// waits are the agents that a campaign waits for, and who has them.
func (p *pages) waits(campaign string) (out []waitRow) {
	for _, wait := range p.Waiting() {
		if wait.Holder != campaign {
			continue
		}
		row := waitRow{For: wait.For}
		for _, id := range wait.Hosts {
			if a, err := p.Agents.Find(id); err == nil {
				id = a.Name
			}
			row.Hosts = append(row.Hosts, id)
		}
		out = append(out, row)
	}
	return out
}

func (p *pages) stopForm(w http.ResponseWriter, r *http.Request, who users.Person) {
	id := r.PathValue("campaign")
	if err := p.end(r, who, id); err != nil {
		p.failure(w, who, err, 0)
		return
	}
	http.Redirect(w, r, "/campaigns/"+url.PathEscape(id), http.StatusSeeOther)
}

func (p *pages) confirmForm(w http.ResponseWriter, r *http.Request, who users.Person) {
	id := r.PathValue("campaign")
	question, _ := strconv.ParseInt(r.PostFormValue("question"), 10, 64) // 0: not asked
	if err := p.confirmed(r, who, id, question); err != nil {
		p.failure(w, who, err, 0)
		return
	}
	http.Redirect(w, r, "/campaigns/"+url.PathEscape(id), http.StatusSeeOther)
}

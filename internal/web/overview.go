package web

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"soku/internal/hub"
	"soku/internal/hub/users"
	"soku/internal/text"
)

// recent is how many campaigns of the store are listed.
const recent = 20

// justNow is within which an agent was heard that is said to be heard now: agents report every few seconds.
const justNow = time.Second

// clockOff is how far a clock may be from the hub's before the page says so.
const clockOff = time.Second

// overviewPage is the first page: campaigns and agents.
type overviewPage struct {
	Running   []campaignRow
	Recent    campaignsPage
	Selection string
	Labels    []labelLink // by which agents can be selected
	Agents    []agentRow
	Known     int            // agents in all
	States    map[string]int // of these, how many are in each state
	Example   string         // plan that is ready to start, or ""
}

type campaignRow struct {
	ID, Name            string
	BeganAt             time.Time
	Done, Total, Failed int
}

type labelLink struct {
	Text, Query string
	Agents      int
}

type agentRow struct {
	Name, ID  string
	Healths   []string
	Labels    []string
	Address   string
	Version   string
	Platform  string
	Clock     string
	Seen      string
	Running   int
	Unhealthy bool
}

func (p *pages) overview(w http.ResponseWriter, r *http.Request, who users.Person) {
	page := overviewPage{Selection: r.URL.Query().Get("agents")}
	v := view{Title: p.Text.Sentence("web.hub.title", nil), Person: who}
	status := http.StatusOK
	all, err := p.Agents.List("")
	if err == nil {
		page.Known, page.Labels, page.Example = len(all), labelLinks(all), examplePlan(all)
		page.States = map[string]int{}
		for _, a := range all {
			page.States[string(a.State)]++
		}
		shown := all
		if page.Selection != "" {
			shown, err = p.Agents.List(page.Selection)
		}
		now := time.Now()
		for _, a := range shown {
			page.Agents = append(page.Agents, p.agentRow(a, now))
		}
	}
	if err != nil { // of the selection, which a person wrote
		v.Error, status = p.words(err), statusOf(err)
	}
	page.Running, page.Recent, err = p.listCampaigns(r, "", recent)
	if err != nil {
		p.failure(w, who, err, 0)
		return
	}
	v.Page = page
	p.show(w, status, "hub", v)
}

// mostLabels bounds the links to labels.
const mostLabels = 50

// labelLinks are the labels of agents, the most frequent first.
func labelLinks(all []hub.Agent) (out []labelLink) {
	count := map[string]int{}
	for _, a := range all {
		for k, v := range a.Labels {
			count[k+"="+v]++
		}
	}
	for label, n := range count {
		if !strings.Contains(label, ",") { // which would be two for a selection
			out = append(out, labelLink{label, "/?agents=" + url.QueryEscape(label) + "#agents", n})
		}
	}
	slices.SortFunc(out, func(a, b labelLink) int { return cmp.Or(b.Agents-a.Agents, strings.Compare(a.Text, b.Text)) })
	return out[:min(len(out), mostLabels)]
}

func (p *pages) agentRow(a hub.Agent, now time.Time) agentRow {
	row := agentRow{
		Name: a.Name, ID: a.ID[:min(len(a.ID), 12)], Version: a.Hello.Program, Platform: a.Hello.Platform, Running: len(a.Beat.Running),
	}
	for k, v := range a.Labels {
		row.Labels = append(row.Labels, k+"="+v)
	}
	slices.Sort(row.Labels)
	if len(a.Hello.Addresses) > 0 {
		row.Address = a.Hello.Addresses[0].Address
	}
	if !a.Heard.IsZero() {
		ago := ""
		if d := now.Sub(a.Heard); d >= justNow {
			ago = roughly(d)
		}
		row.Seen = p.Text.Sentence("web.agent.seen", text.Args{"Ago": ago})
	}
	if !a.ClockAt.IsZero() {
		row.Clock = p.Text.Sentence("web.agent.clock", text.Args{"Offset": a.Clock.Offset.Round(time.Microsecond).String(), "Within": a.Clock.Uncertainty.Round(time.Microsecond).String()})
	}
	row.Healths, row.Unhealthy = p.health(a, now)
	return row
}

// health is the health of an agent in words.
func (p *pages) health(a hub.Agent, now time.Time) (words []string, bad bool) {
	switch a.State {
	case hub.Connected:
		words = append(words, p.Text.Sentence("web.health.connected", nil))
	case hub.Away:
		words, bad = append(words, p.Text.Sentence("web.health.away", text.Args{"Ago": roughly(now.Sub(a.Heard))})), true
	case hub.Revoked:
		words, bad = append(words, p.Text.Sentence("web.health.revoked", nil)), true
	case hub.Cloned:
		words, bad = append(words, p.Text.Sentence("web.health.cloned", nil)), true
	}
	if a.Beat.Full {
		words, bad = append(words, p.Text.Sentence("web.health.full", nil)), true
	} else if a.Beat.Spooled > 0 {
		words = append(words, p.Text.Sentence("web.health.spooled", text.Args{"Results": a.Beat.Spooled}))
	}
	if off := a.Clock.Offset.Abs() - a.Clock.Uncertainty; !a.ClockAt.IsZero() && off > clockOff {
		words, bad = append(words, p.Text.Sentence("web.health.clock", text.Args{"Off": roughly(a.Clock.Offset.Abs()), "Ahead": a.Clock.Offset > 0})), true
	}
	return words, bad
}

// campaignsPage is a page of the list of campaigns that do not run.
type campaignsPage struct {
	Rows  []campaignRow
	Older string // path of the next page, or ""
}

// listCampaigns are those that run, on the first page, and others that the store has, the newest first.
func (p *pages) listCampaigns(r *http.Request, after string, most int) (running []campaignRow, others campaignsPage, err error) {
	states, err := p.Campaigns.List(r.Context(), after, most)
	for _, s := range states {
		row := campaignRow{ID: s.Campaign, Name: s.Name, BeganAt: s.BeganAt, Done: s.Done, Total: s.Total, Failed: s.Failed}
		if s.Live {
			running = append(running, row)
		} else {
			others.Rows = append(others.Rows, row)
		}
	}
	if len(others.Rows) == most {
		others.Older = "/campaigns?after=" + url.QueryEscape(others.Rows[most-1].ID)
	}
	return running, others, err
}

func (p *pages) campaignsPage(w http.ResponseWriter, r *http.Request, who users.Person) {
	_, page, err := p.listCampaigns(r, r.URL.Query().Get("after"), usualCampaigns)
	if err != nil {
		p.failure(w, who, err, 0)
		return
	}
	p.show(w, http.StatusOK, "campaigns", view{Title: p.Text.Sentence("web.campaigns", nil), Person: who, Page: page})
}

// join makes a join token and shows it once.
func (p *pages) join(w http.ResponseWriter, r *http.Request, who users.Person) {
	o := TokenOrder{Labels: map[string]string{}}
	o.Uses, _ = strconv.Atoi(r.PostFormValue("uses")) // 0: one
	for label := range strings.FieldsFuncSeq(r.PostFormValue("labels"), func(c rune) bool { return c == ',' || c == ' ' || c == '\n' || c == '\r' }) {
		k, v, _ := strings.Cut(label, "=")
		o.Labels[k] = v
	}
	t, err := p.makeToken(r, o, who)
	if err != nil {
		p.failure(w, who, err, 0)
		return
	}
	p.show(w, http.StatusOK, "joined", view{Title: p.Text.Sentence("web.joined.title", nil), Person: who, Page: t})
}

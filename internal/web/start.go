package web

import (
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"soku/internal/campaign/advice"
	"soku/internal/campaign/plan"
	"soku/internal/hub/campaigns"
	"soku/internal/hub/users"
	"soku/internal/measure"
	"soku/internal/printable"
	"soku/internal/text"
)

// planPage shows a plan that was checked, or why it cannot run.
type planPage struct {
	File, Text string
	Checked    bool
	Name       string
	Patterns   []string
	More       int        // patterns that are not shown
	Agents     []labelled // that the plan names by labels
	Order      string
	Trials     int
	Time       string
	Bytes      string
	Warnings   []string
}

// labelled are the endpoints that agents with labels are.
type labelled struct {
	Labels    string
	Endpoints []string
}

// shownPatterns is how many patterns are listed.
const shownPatterns = 50

// startForm checks a plan, or starts it for those who may.
func (p *pages) startForm(w http.ResponseWriter, r *http.Request, who users.Person) {
	page := planPage{}
	var err error
	if page.File, page.Text, err = planOfForm(r); err == nil && r.PostFormValue("do") == "start" {
		if !who.Role.May(users.Operator) {
			p.failure(w, who, forbidden(who, users.Operator), http.StatusForbidden)
			return
		}
		s, failure := p.begin(r, who, campaigns.Order{File: page.File, Text: []byte(page.Text)})
		if err = failure; err == nil {
			http.Redirect(w, r, "/campaigns/"+url.PathEscape(s.Campaign), http.StatusSeeOther)
			return
		}
	}
	var checked *plan.Plan
	if err == nil {
		checked, err = p.Campaigns.Load(page.File, []byte(page.Text))
	}
	v := view{Title: p.Text.Sentence("web.plan.title", nil), Person: who}
	status := http.StatusOK
	if err != nil {
		v.Error, status = p.words(err), statusOf(err)
	} else {
		p.describe(&page, checked)
	}
	v.Page = page
	p.show(w, status, "plan", v)
}

// planOfForm is the plan of a form: a file if one was given, or else the text.
func planOfForm(r *http.Request) (name, text string, err error) {
	name = "plan.yaml"
	if err := r.ParseMultipartForm(maxForm); err != nil {
		return name, "", measure.Fail(measure.KindFile, "web.plan.read", measure.Figures{"limit": maxPlan, "cause": err})
	}
	text = strings.ReplaceAll(r.PostFormValue("plan"), "\r\n", "\n") // as which a form sends the end of a line
	file, head, missing := r.FormFile("file")
	if missing == nil {
		defer file.Close()
		data, err := io.ReadAll(io.LimitReader(file, maxPlan+1))
		if err != nil {
			return name, "", measure.Fail(measure.KindFile, "web.plan.read", measure.Figures{"limit": maxPlan, "cause": err})
		}
		if name, text = printable.Cut(printable.Line(head.Filename), 200), string(data); name == "" {
			name = "plan.yaml"
		}
	}
	if len(text) > maxPlan {
		return name, "", measure.Fail(measure.KindFile, "web.plan.long", measure.Figures{"limit": maxPlan})
	}
	if text == "" {
		return name, "", measure.Fail(measure.KindUsage, "web.plan.empty", nil)
	}
	return name, text, nil
}

// describe says what a plan would do.
func (p *pages) describe(page *planPage, of *plan.Plan) {
	e := advice.EstimateOf(of, nil)
	page.Checked, page.Name, page.Trials = true, of.Campaign, e.Trials
	all := of.AllPatterns()
	page.More = max(0, len(all)-shownPatterns)
	for _, pt := range all[:len(all)-page.More] {
		page.Patterns = append(page.Patterns, pt.Name)
	}
	for _, a := range of.AgentsByLabel {
		page.Agents = append(page.Agents, labelled{a.Name, a.Value.Names()})
	}
	page.Order = p.Text.Sentence("plan.order.drawn", text.Args{"Rounds": of.Rounds})
	page.Time = p.Text.Sentence("plan.time", text.Args{
		"Time": roughly(e.Time), "Round": roughly(e.Round), "Every": every(of), "AtOnce": e.AtOnce, "Unknown": e.TimeUnknown, "Max": e.MaxTime,
		"Changes": e.HandChanges, "AtMost": true, "Commands": false,
	})
	page.Bytes = p.Text.Sentence("plan.bytes", text.Args{"Bytes": e.Bytes, "Unknown": e.BytesUnknown, "Max": e.MaxBytes, "Key": e.MaxBytesKey})
	for _, w := range advice.Warnings(of, nil) {
		page.Warnings = append(page.Warnings, p.Text.Sentence("plan.weak."+string(w.Code), text.Args{
			"Tests": w.Tests, "Factor": w.Factor, "Other": w.Other, "Rounds": w.Rounds, "Hosts": w.Hosts, "Pairs": w.Pairs, "Sample": w.Sample,
			"Endpoints": w.Endpoints, "Port": w.Port, "Round": roughly(w.Round), "Step": roughly(w.Step),
		}))
	}
	page.Warnings = slices.Compact(page.Warnings)
	for _, e := range p.findings(of) {
		sentence, _ := p.Text.Error(e)
		page.Warnings = append(page.Warnings, sentence)
	}
}

// every is the time between rounds, or "".
func every(of *plan.Plan) string {
	if of.Every == 0 {
		return ""
	}
	return roughly(of.Every.Std())
}

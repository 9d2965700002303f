package web

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"soku/internal/campaign/advice"
	"soku/internal/campaign/plan"
	"soku/internal/catalog"
	"soku/internal/fleet"
	"soku/internal/fleet/enrol"
	"soku/internal/hub"
	"soku/internal/hub/campaigns"
	"soku/internal/hub/users"
	"soku/internal/measure"
	"soku/internal/printable"
	"soku/internal/store"
	"soku/internal/text"
)

// Bounds of requests.
const (
	maxBody    = 64 << 10
	maxPlan    = 1 << 20
	longestAsk = 25 * time.Second // a request for the next state of a campaign waits so long
)

// Agents are those that a hub knows. Package hub has the documentation of its methods.
type Agents interface {
	List(expression string) ([]hub.Agent, error)
	Find(text string) (hub.Agent, error)
}

// Config is what the server shows and changes. Its members are used by several goroutines.
type Config struct {
	Agents    Agents
	Waiting   func() []hub.Wait // reservations of agents that are not granted yet
	Take      func(ctx context.Context, agent, result, sum string, document []byte) fleet.Receipt
	Enrol     *enrol.Service
	Campaigns *campaigns.Campaigns
	Check     func(*plan.Plan) []*measure.Error // what keeps its trials from running as the agents are now; nil: it is not known
	Store     store.Store
	Limits    func() (*catalog.Catalog, error)
	WebSocket http.Handler // NATS over WebSocket; nil: there is none

	Users      *users.Users
	AdminToken string          // who has it is an admin
	Text       *text.Catalogue // of pages
	Log        *slog.Logger

	Identity string    // of the hub
	Version  string    // of this program
	URL      string    // by which agents reach the hub
	Pin      fleet.Pin // of its certificate; empty: a public authority vouches for it

	// Revoke keeps an agent from the hub and its broker for good.
	Revoke func(ctx context.Context, agent, person string) error
}

// About is the hub.
type About struct {
	Hub     string    `json:"hub"`
	Version string    `json:"version"`
	URL     string    `json:"url"`
	Pin     fleet.Pin `json:"pin,omitempty"`
	Agents  int       `json:"agents"`
}

// Agent is an agent as people see it.
type Agent struct {
	ID       string            `json:"id"`
	Name     string            `json:"name"`
	State    hub.State         `json:"state"`
	Error    *measure.Error    `json:"error,omitempty"`
	Labels   map[string]string `json:"labels,omitempty"`
	Platform string            `json:"platform,omitempty"`
	Program  string            `json:"program,omitempty"`
	HeardAt  *time.Time        `json:"heard_at,omitempty"`

	Addresses []fleet.Address `json:"addresses,omitempty"`
	Policy    fleet.Policy    `json:"policy,omitzero"`
	Running   []string        `json:"running,omitempty"`
	Spooled   int             `json:"spooled,omitempty"`
	Full      bool            `json:"full,omitempty"`

	OffsetNs      int64 `json:"clock_offset_ns,omitempty"` // positive: its clock is ahead of the hub's
	UncertaintyNs int64 `json:"clock_uncertainty_ns,omitempty"`
}

// TokenOrder is a join token that is asked for.
type TokenOrder struct {
	Labels  map[string]string `json:"labels,omitempty"`
	LastsNs int64             `json:"lasts_ns,omitempty"` // 0: an hour
	Uses    int               `json:"uses,omitempty"`     // 0: one
}

// Token is a join token, shown once.
type Token struct {
	enrol.Token
	Secret  string `json:"secret"`
	Command string `json:"command"` // by which an agent joins
}

// Changed is the state of a campaign and its version, for the next request.
type Changed struct {
	State   campaigns.State `json:"state"`
	Version uint64          `json:"version"`
}

// Answer is the answer to a question of a campaign: its person has made the change.
type Answer struct {
	Question int64 `json:"question"`
}

// New returns the handler. An error is a defect of the program's own templates.
func New(c Config) (http.Handler, error) {
	mux := http.NewServeMux()
	doors := c.Enrol.Handler()
	for _, path := range []string{fleet.PathNonce, fleet.PathJoin, fleet.PathRenew} {
		mux.Handle(path, doors) // which refuses other methods than POST
	}
	mux.HandleFunc("/api/", func(w http.ResponseWriter, _ *http.Request) {
		fail(w, measure.Fail(measure.KindNotFound, "web.page", nil), 0)
	})
	mux.HandleFunc("POST "+fleet.PathResults, c.result)
	if c.WebSocket != nil {
		mux.Handle(fleet.PathNATS, c.WebSocket)
	}
	person := func(pattern string, least users.Role, answer func(*http.Request, users.Person) (any, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			who, err := c.person(r)
			switch {
			case err != nil:
				fail(w, c.outside(err), 0)
				return
			case who.Name == "":
				fail(w, measure.Fail(measure.KindRefused, "web.unauthorized", nil), http.StatusUnauthorized)
				return
			case !who.Role.May(least):
				fail(w, forbidden(who, least), http.StatusForbidden)
				return
			}
			r.Body = http.MaxBytesReader(w, r.Body, maxPlan)
			got, err := answer(r, who)
			if err != nil {
				fail(w, err, 0)
				return
			}
			write(w, http.StatusOK, got)
		})
	}
	person("GET /api/v1/hub", users.Viewer, c.about)
	person("GET /api/v1/agents", users.Viewer, c.agents)
	person("POST /api/v1/agents/{agent}/revoke", users.Admin, c.revoke)
	person("POST /api/v1/tokens", users.Operator, c.token)
	person("GET /api/v1/tokens", users.Operator, func(r *http.Request, _ users.Person) (any, error) { return c.Enrol.Registry.Tokens(r.Context()) })
	person("DELETE /api/v1/tokens/{token}", users.Operator, c.endToken)
	person("GET /api/v1/nats-config", users.Admin, func(r *http.Request, _ users.Person) (any, error) { return c.Enrol.NATSConfig(r.Context()) })
	person("POST /api/v1/plans", users.Viewer, c.plan)
	person("POST /api/v1/campaigns", users.Operator, c.start)
	person("GET /api/v1/campaigns", users.Viewer, c.listCampaigns)
	person("GET /api/v1/campaigns/{campaign}", users.Viewer, c.campaign)
	person("POST /api/v1/campaigns/{campaign}/stop", users.Operator, c.stop)
	person("POST /api/v1/campaigns/{campaign}/confirm", users.Operator, c.confirm)
	person("GET /api/v1/users", users.Admin, func(r *http.Request, _ users.Person) (any, error) { return c.Users.List(r.Context()) })
	person("POST /api/v1/users", users.Admin, c.addUser)
	person("DELETE /api/v1/users/{name}", users.Admin, c.removeUser)
	person("POST /api/v1/users/{name}/role", users.Admin, c.setRole)
	person("POST /api/v1/users/{name}/link", users.Admin, c.newLink)
	person("POST /api/v1/users/{name}/tokens", users.Admin, c.userToken)
	person("DELETE /api/v1/users/{name}/tokens", users.Admin, c.endUserTokens)
	person("GET /api/v1/audit", users.Admin, func(r *http.Request, _ users.Person) (any, error) { return c.Users.Entries(r.Context(), shownEntries) })
	if err := c.pages(mux); err != nil {
		return nil, err
	}
	return secured(http.NewCrossOriginProtection().Handler(mux)), nil
}

func forbidden(who users.Person, least users.Role) error {
	return measure.Fail(measure.KindRefused, "web.forbidden", measure.Figures{"role": string(who.Role), "least": string(least)})
}

// policyWith is the Content-Security-Policy of a page whose style is from a source.
func policyWith(style string) string {
	return "default-src 'none'; style-src " + style + "; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}

// secured sets the header fields of every answer: nothing of the hub belongs into another page or a cache.
func secured(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("Content-Security-Policy", policyWith("'self'")+"; script-src 'self'; connect-src 'self'")
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("Referrer-Policy", "same-origin")
		head.Set("Cache-Control", "no-store")
		h.ServeHTTP(w, r)
	})
}

func (c Config) about(*http.Request, users.Person) (any, error) {
	all, err := c.Agents.List("")
	return About{Hub: c.Identity, Version: c.Version, URL: c.URL, Pin: c.Pin, Agents: len(all)}, err
}

func (c Config) agents(r *http.Request, _ users.Person) (any, error) {
	all, err := c.Agents.List(r.URL.Query().Get("select"))
	if err != nil {
		return nil, err
	}
	out := make([]Agent, 0, len(all))
	for _, a := range all {
		shown := Agent{
			ID: a.ID, Name: a.Name, State: a.State, Error: a.Error, Labels: a.Labels, Platform: a.Hello.Platform, Program: a.Hello.Program,
			Addresses: a.Hello.Addresses, Policy: a.Hello.Policy, Running: a.Beat.Running, Spooled: a.Beat.Spooled, Full: a.Beat.Full,
			OffsetNs: a.Clock.Offset.Nanoseconds(), UncertaintyNs: a.Clock.Uncertainty.Nanoseconds(),
		}
		if heard := a.Heard.UTC(); !a.Heard.IsZero() {
			shown.HeardAt = &heard
		}
		out = append(out, shown)
	}
	return out, nil
}

func (c Config) revoke(r *http.Request, person users.Person) (any, error) {
	a, err := c.Agents.Find(r.PathValue("agent"))
	id := a.ID
	if err != nil {
		if id = r.PathValue("agent"); !fleet.ValidAgent(id) { // one that has joined and never connected
			return nil, err
		}
	}
	err = c.Revoke(r.Context(), id, person.Name)
	c.audit(r, person.Name, users.ActionRevoke, id, err)
	return struct {
		Agent string `json:"agent"`
	}{id}, err
}

func (c Config) token(r *http.Request, person users.Person) (any, error) {
	o, err := read[TokenOrder](r)
	if err != nil {
		return nil, err
	}
	t, err := c.makeToken(r, o, person)
	if err != nil {
		return nil, err
	}
	return t, nil
}

func (c Config) endToken(r *http.Request, person users.Person) (any, error) {
	id := r.PathValue("token")
	err := c.Enrol.EndToken(r.Context(), id, person.Name)
	c.audit(r, person.Name, users.ActionUnjoin, id, err)
	return struct {
		ID string `json:"id"`
	}{id}, err
}

// makeToken makes a join token for a person.
func (c Config) makeToken(r *http.Request, o TokenOrder, person users.Person) (Token, error) {
	secret, t, err := c.Enrol.MakeToken(r.Context(), enrol.TokenOrder{Labels: o.Labels, Lasts: time.Duration(o.LastsNs), Uses: o.Uses}, person.Name)
	c.audit(r, person.Name, users.ActionJoin, t.ID, err)
	if err != nil {
		return Token{}, err
	}
	command := "soku agent --hub " + c.URL
	if c.Pin != "" {
		command += " --pin " + string(c.Pin)
	}
	return Token{Token: t, Secret: secret, Command: command + " --join " + secret}, nil
}

// Plan is what a plan would do.
type Plan struct {
	Campaign string `json:"campaign"`
	Title    string `json:"title,omitempty"`
	Patterns int    `json:"patterns"`
	Rounds   int    `json:"rounds"`
	// Agents are the endpoints that the plan names by labels, such as zone=west.
	Agents map[string][]string `json:"agents,omitempty"`
	// Findings are what keeps its trials from running as the agents are now.
	Findings []*measure.Error `json:"findings,omitempty"`

	Estimate advice.Estimate `json:"estimate"`
	Text     []byte          `json:"text"` // of the plan, with the agents that labels mean
}

func (c Config) plan(r *http.Request, _ users.Person) (any, error) {
	file, text, err := sentPlan(r)
	if err != nil {
		return nil, err
	}
	p, err := c.Campaigns.Load(file, text)
	if err != nil {
		return nil, err
	}
	return Plan{
		Campaign: p.Campaign, Title: p.Title, Patterns: len(p.AllPatterns()), Rounds: p.Rounds, Agents: p.LabelledEndpoints(), Findings: c.findings(p),
		Estimate: advice.EstimateOf(p, nil), Text: p.Text,
	}, nil
}

// findings are those of [Config.Check].
func (c Config) findings(p *plan.Plan) []*measure.Error {
	if c.Check == nil {
		return nil
	}
	return c.Check(p)
}

func (c Config) start(r *http.Request, person users.Person) (any, error) {
	file, text, err := sentPlan(r)
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	s, err := c.begin(r, person, campaigns.Order{File: file, Text: text, Only: q["only"], Resume: q.Get("resume") == "true", RetryFailed: q.Get("retry_failed") == "true"})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// begin starts a campaign for a person.
func (c Config) begin(r *http.Request, person users.Person, o campaigns.Order) (s campaigns.State, err error) {
	run, err := c.Campaigns.Start(r.Context(), o)
	if err == nil {
		s = run.State()
	}
	c.audit(r, person.Name, users.ActionStart, s.Campaign, err)
	return s, err
}

// sentPlan is the plan in a request and its name for people.
func sentPlan(r *http.Request) (file string, text []byte, err error) {
	text, err = io.ReadAll(r.Body)
	if err != nil {
		return "", nil, measure.Fail(measure.KindFile, "web.plan.read", measure.Figures{"limit": maxPlan, "cause": err})
	}
	if file = printable.Line(r.URL.Query().Get("file")); file == "" || len(file) > 1000 {
		file = "plan.yaml"
	}
	return file, text, nil
}

// Bounds of a list of campaigns.
const (
	usualCampaigns = 50
	mostCampaigns  = 1000
)

func (c Config) listCampaigns(r *http.Request, _ users.Person) (any, error) {
	q := r.URL.Query()
	limit := usualCampaigns
	if text := q.Get("limit"); text != "" {
		var err error
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > mostCampaigns {
			return nil, measure.Fail(measure.KindUsage, "web.campaigns.limit", measure.Figures{"limit": text, "most": mostCampaigns})
		}
	}
	out, err := c.Campaigns.List(r.Context(), q.Get("after"), limit)
	if err != nil {
		return nil, err
	}
	return append([]campaigns.State{}, out...), nil
}

func (c Config) campaign(r *http.Request, _ users.Person) (any, error) {
	id := r.PathValue("campaign")
	run := c.Campaigns.Find(id)
	if run == nil {
		s, err := c.Campaigns.At(r.Context(), id)
		if err != nil {
			return nil, err
		}
		if s.EndedAt == nil { // it may go on here soon
			return nil, measure.Fail(measure.KindNotFound, "hub.campaign.not_running", measure.Figures{"campaign": id})
		}
		return Changed{s, 0}, nil
	}
	known, _ := strconv.ParseUint(r.URL.Query().Get("known"), 10, 64)
	ctx, stop := context.WithTimeout(r.Context(), longestAsk)
	defer stop()
	s, version, err := run.Next(ctx, known)
	if err != nil { // nothing has changed
		s, version = run.State(), known
	}
	return Changed{s, version}, nil
}

func (c Config) stop(r *http.Request, person users.Person) (any, error) {
	id := r.PathValue("campaign")
	if err := c.end(r, person, id); err != nil {
		return nil, err
	}
	return c.Campaigns.Find(id).State(), nil
}

// end stops a campaign for a person.
func (c Config) end(r *http.Request, person users.Person, id string) error {
	err := c.Campaigns.Stop(id, person.Name)
	c.audit(r, person.Name, users.ActionStop, id, err)
	return err
}

func (c Config) confirm(r *http.Request, person users.Person) (any, error) {
	answer, err := read[Answer](r)
	if err != nil {
		return nil, err
	}
	id := r.PathValue("campaign")
	if err := c.confirmed(r, person, id, answer.Question); err != nil {
		return nil, err
	}
	return c.Campaigns.Find(id).State(), nil
}

// confirmed answers a question of a campaign for a person.
func (c Config) confirmed(r *http.Request, person users.Person, id string, question int64) error {
	err := c.Campaigns.Confirm(id, question, person.Name)
	c.audit(r, person.Name, users.ActionConfirm, id, err)
	return err
}

// result takes a document of an agent that is too large for a message.
func (c Config) result(w http.ResponseWriter, r *http.Request) {
	agent, status, failure := c.Enrol.VerifyRequest(r)
	if failure != nil {
		fail(w, failure, status)
		return
	}
	document, err := io.ReadAll(http.MaxBytesReader(w, r.Body, fleet.MaxDocument))
	if err != nil {
		fail(w, measure.Fail(measure.KindFile, "web.document.read", measure.Figures{"limit": fleet.MaxDocument, "cause": err}), http.StatusBadRequest)
		return
	}
	write(w, http.StatusOK, c.Take(r.Context(), agent, r.Header.Get(fleet.HeaderResult), r.Header.Get(fleet.HeaderSHA256), document))
}

func read[T any](r *http.Request) (m T, err error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return m, measure.Fail(measure.KindFile, "fleet.message.syntax", measure.Figures{"cause": err})
	}
	return fleet.Decode[T](body, maxBody)
}

// statuses of failures.
var statuses = map[measure.Kind]int{
	measure.KindUsage: http.StatusBadRequest, measure.KindFile: http.StatusBadRequest, measure.KindRefused: http.StatusConflict,
	measure.KindNotFound: http.StatusNotFound, measure.KindUnreachable: http.StatusBadGateway,
}

// statusOf is the status of an answer that is a failure.
func statusOf(err error) int {
	if status := statuses[measure.KindOf(err)]; status != 0 {
		return status
	}
	return http.StatusInternalServerError
}

func fail(w http.ResponseWriter, err error, status int) {
	e := measure.AsError(err, measure.KindInternal)
	if status == 0 {
		status = statusOf(e)
	}
	write(w, status, struct {
		Error *measure.Error `json:"error"`
	}{e})
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a client that is gone
}

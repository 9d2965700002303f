package web_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"soku/internal/campaign/journal"
	"soku/internal/campaign/plan"
	"soku/internal/catalog"
	"soku/internal/conduct"
	"soku/internal/fleet/enrol"
	"soku/internal/hub"
	"soku/internal/hub/campaigns"
	"soku/internal/hub/users"
	"soku/internal/measure"
	"soku/internal/server"
	"soku/internal/store"
	"soku/internal/store/sqlite"
	"soku/internal/store/sqlstore"
	"soku/internal/text"
	"soku/internal/web"
	"soku/test/localagents"
)

const (
	password = "correct horse battery"
	token    = "soku-admin-of-the-file"
)

// agents are those of a test.
type agents struct{ all []hub.Agent }

func (a *agents) List(expression string) ([]hub.Agent, error) {
	key, value, _ := strings.Cut(expression, "=")
	var out []hub.Agent
	for _, one := range a.all {
		if expression == "" || one.Labels[key] == value {
			out = append(out, one)
		}
	}
	if len(out) == 0 && expression != "" {
		return nil, measure.Fail(measure.KindNotFound, "hub.agent.unknown", measure.Figures{"agent": expression})
	}
	return out, nil
}

func (a *agents) Find(name string) (hub.Agent, error) {
	for _, one := range a.all {
		if one.Name == name || one.ID == name {
			return one, nil
		}
	}
	return hub.Agent{}, measure.Fail(measure.KindNotFound, "hub.agent.unknown", measure.Figures{"agent": name})
}

// site is a hub whose campaigns run between this host and a server on it.
type site struct {
	*httptest.Server
	users     *users.Users
	agents    *agents
	store     store.Store
	campaigns *campaigns.Campaigns
	journals  *journal.Memory
	enrol     *enrol.Service
	waiting   []hub.Wait
	revoked   []string
	revoking  func(context.Context) // called at each revocation; nil: nothing is
	pass      chan struct{}         // lets trials through
	port      uint16
}

func newSite(t testing.TB) *site {
	t.Helper()
	s := &site{agents: &agents{}, pass: make(chan struct{}), journals: new(journal.Memory)}
	srv, err := server.New(server.Config{Listen: "127.0.0.1:0", MaxClients: 10, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan struct{})
	go func() { defer close(served); _ = srv.Serve(ctx) }()
	t.Cleanup(func() { stop(); <-served })
	s.port = srv.Addr().Port()
	if s.store, err = sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "soku.db")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.store.Close() })
	db, _ := sqlstore.Of(s.store)
	if s.users, err = users.Open(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	registry, err := enrol.OpenRegistry(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	authority, err := enrol.OpenAuthority(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s.enrol = enrol.New(enrol.Options{Authority: authority, Registry: registry})
	s.open(t)
	return s
}

// restart ends the hub and starts another with its store and its journals.
func (s *site) restart(t testing.TB) {
	t.Helper()
	s.Close()
	s.campaigns.Close()
	s.open(t)
}

// open starts the hub.
func (s *site) open(t testing.TB) {
	t.Helper()
	limits := func() (*catalog.Catalog, error) { return catalog.Builtin(), nil }
	host := conduct.ThisHost()
	host.Agents = localagents.Agents{Here: host.Here, Pass: s.pass}
	s.campaigns = campaigns.New(campaigns.Config{
		Conductor: conduct.Conductor{Host: host, Store: s.store, Journals: s.journals}, Limits: limits, Log: slog.New(slog.DiscardHandler),
		ByLabel: func(string, string) ([]plan.LabelledAgent, error) {
			return []plan.LabelledAgent{{Name: "vm7", ID: "UAAA"}, {Name: "vm8", ID: "UBBB"}}, nil
		},
	})
	t.Cleanup(s.campaigns.Close)
	h, err := web.New(web.Config{
		Agents: s.agents, Waiting: func() []hub.Wait { return s.waiting }, Enrol: s.enrol,
		Campaigns: s.campaigns, Store: s.store, Limits: limits, Users: s.users, AdminToken: token, Text: text.English(), Log: slog.New(slog.DiscardHandler),
		URL: "https://hub:7660", Pin: "3f0a",
		Revoke: func(ctx context.Context, agent, _ string) error {
			if s.revoking != nil {
				s.revoking(ctx)
			}
			s.revoked = append(s.revoked, agent)
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Server = httptest.NewTLSServer(h)
	t.Cleanup(s.Close)
}

// plan is one of three trials.
func (s *site) plan(title string) string {
	return fmt.Sprintf("campaign: west\ntitle: %q\nfrom: a\nto: server\nendpoints: {a: {agent: vm1}, server: {address: 127.0.0.1, port: %d}}\ntests: {up: {test: tcp, duration: 100ms}}\nrounds: 3\n", title, s.port)
}

// browser is a person's browser. It keeps cookies and follows no redirects.
type browser struct {
	t    testing.TB
	site *site
	http *http.Client
}

func (s *site) browser(t testing.TB) *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t, s, &http.Client{Transport: s.Client().Transport, Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// as is the browser of a new user who has logged in.
func (s *site) as(t testing.TB, name string, role users.Role) *browser {
	t.Helper()
	link, err := s.users.Add(t.Context(), name, role)
	if err != nil {
		t.Fatal(err)
	}
	b := s.browser(t)
	if r := b.post("/welcome/"+link, url.Values{"password": {password}, "again": {password}}); r.status != http.StatusSeeOther {
		t.Fatalf("%+v", r)
	}
	return b
}

// answer is that of the site.
type answer struct {
	status   int
	header   http.Header
	body     string
	location string
}

func (b *browser) do(r *http.Request, err error) answer {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
	got, err := b.http.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer{got.StatusCode, got.Header, string(body), got.Header.Get("Location")}
}

func (b *browser) get(path string) answer {
	b.t.Helper()
	return b.do(http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.site.URL+path, nil))
}

func (b *browser) post(path string, form url.Values) answer {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.site.URL+path, strings.NewReader(form.Encode()))
	if err == nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	return b.do(r, err)
}

// submit sends the form of a plan.
func (b *browser) submit(do, plan string) answer {
	b.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	if err := form.WriteField("plan", plan); err != nil {
		b.t.Fatal(err)
	}
	if err := form.WriteField("do", do); err != nil {
		b.t.Fatal(err)
	}
	if err := form.Close(); err != nil {
		b.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.site.URL+"/start", &body)
	if err == nil {
		r.Header.Set("Content-Type", form.FormDataContentType())
	}
	return b.do(r, err)
}

// call asks the API with a token.
func (s *site) call(t *testing.T, bearer, method, path, body string) answer {
	t.Helper()
	b := s.browser(t)
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err == nil {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	return b.do(r, err)
}

// has checks a status and that a page has texts.
func (a answer) has(t *testing.T, status int, texts ...string) {
	t.Helper()
	if a.status != status {
		t.Errorf("status %d, want %d: %s", a.status, status, a.body)
	}
	for _, want := range texts {
		if !strings.Contains(a.body, want) {
			t.Errorf("the page has no %q:\n%s", want, a.body)
		}
	}
}

// until follows a campaign to a state.
func (s *site) until(t *testing.T, id string, is func(campaigns.State) bool) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	for known := uint64(0); ; {
		state, version, err := s.campaigns.Find(id).Next(ctx, known)
		if err != nil {
			t.Fatal(err)
		}
		if is(state) {
			return
		}
		known = version
	}
}

var tag = regexp.MustCompile(`(?i)<(script|b|img)[ >]`)

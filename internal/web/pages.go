package web

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"soku/internal/hub/users"
	"soku/internal/measure"
	"soku/internal/printable"
	"soku/internal/report/printer"
)

//go:embed templates/*.tmpl templates/web.css templates/live.js
var pageFiles embed.FS

// names of the pages' templates.
var names = []string{"login", "welcome", "hub", "joined", "plan", "campaign", "campaigns", "audit", "failure", "waiting"}

// maxForm bounds the body of a form: a plan twice, as text and as a file.
const maxForm = 2*maxPlan + maxBody

// pages makes the pages.
type pages struct {
	Config
	templates map[string]*template.Template
	style     string // path of the style sheet
	script    string // path of the script of pages that change
	reports   *reports
	following atomic.Int64 // pages that follow a campaign
}

// view is what every page shows.
type view struct {
	Title  string
	Person users.Person
	Style  string
	Script string
	Live   bool // it changes by itself
	Error  *shownError
	Page   any // of the page itself
}

// Operates reports whether the person may start and stop.
func (v view) Operates() bool { return v.Person.Role.May(users.Operator) }

// Administers reports whether the person manages users.
func (v view) Administers() bool { return v.Person.Role.May(users.Admin) }

// shownError is a failure in words.
type shownError struct{ Message, Hint string }

// load reads the templates, and serves what pages need besides.
func (c Config) load(mux *http.ServeMux) (*pages, error) {
	p := &pages{Config: c, templates: map[string]*template.Template{}, reports: newReports()}
	functions := template.FuncMap{
		"say": c.Text.SentenceFunc(), "lang": c.Text.Language, "clean": printable.Words, "time": func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
		"iso": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	}
	for _, name := range names {
		t, err := template.New("layout.html.tmpl").Funcs(functions).ParseFS(pageFiles, "templates/layout.html.tmpl", "templates/list.html.tmpl", "templates/"+name+".html.tmpl")
		if err != nil {
			return nil, err
		}
		p.templates[name] = t
	}
	return p, p.assets(mux)
}

// pages adds the pages.
func (c Config) pages(mux *http.ServeMux) error {
	p, err := c.load(mux)
	if err != nil {
		return err
	}
	mux.HandleFunc("GET /login", p.loginForm)
	mux.HandleFunc("POST /login", p.login)
	mux.HandleFunc("POST /logout", p.logout)
	mux.HandleFunc("GET /welcome/{token}", p.welcomeForm)
	mux.HandleFunc("POST /welcome/{token}", p.welcome)
	p.handle(mux, "GET /{$}", users.Viewer, p.overview)
	p.handle(mux, "POST /join", users.Operator, p.join)
	p.handle(mux, "POST /start", users.Viewer, p.startForm)
	p.handle(mux, "GET /campaigns", users.Viewer, p.campaignsPage)
	p.handle(mux, "GET /campaigns/{campaign}", users.Viewer, p.campaignPage)
	p.handle(mux, "GET /campaigns/{campaign}/live", users.Viewer, p.liveCampaignPage)
	p.handle(mux, "POST /campaigns/{campaign}/stop", users.Operator, p.stopForm)
	p.handle(mux, "POST /campaigns/{campaign}/confirm", users.Operator, p.confirmForm)
	p.handle(mux, "GET /campaigns/{campaign}/report", users.Viewer, p.report)
	p.handle(mux, "GET /audit", users.Admin, p.auditPage)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		who, _ := p.person(r) // without one the page has no name
		p.failure(w, who, measure.Fail(measure.KindNotFound, "web.page", nil), 0)
	})
	return nil
}

// assets serves the style of reports and that of these pages as one file, and the script.
func (p *pages) assets(mux *http.ServeMux) error {
	css, err := printer.StyleSheet()
	if err != nil {
		return err
	}
	own, err := pageFiles.ReadFile("templates/web.css")
	if err != nil {
		return err
	}
	script, err := pageFiles.ReadFile("templates/live.js")
	if err != nil {
		return err
	}
	p.style = asset(mux, ".css", "text/css", append(css, own...))
	p.script = asset(mux, ".js", "text/javascript", script)
	return nil
}

// asset serves a file that browsers keep, because its name changes with its content. It returns the path.
func asset(mux *http.ServeMux, extension, kind string, content []byte) string {
	sum := sha256.Sum256(content)
	path := "/assets/" + hex.EncodeToString(sum[:8]) + extension
	mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind+"; charset=utf-8")
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		_, _ = w.Write(content) // a client that is gone
	})
	return path
}

// handle has a page made for people who have at least a role. Others are asked to log in.
func (p *pages) handle(mux *http.ServeMux, pattern string, least users.Role, answer func(http.ResponseWriter, *http.Request, users.Person)) {
	mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		who, err := p.person(r)
		switch {
		case err != nil:
			p.failure(w, users.Person{}, p.outside(err), 0)
		case who.Name == "":
			next := ""
			if r.Method == http.MethodGet && r.URL.Path != "/" {
				next = "?next=" + url.QueryEscape(r.URL.RequestURI())
			}
			http.Redirect(w, r, "/login"+next, http.StatusSeeOther)
		case !who.Role.May(least):
			p.failure(w, who, forbidden(who, least), http.StatusForbidden)
		default:
			r.Body = http.MaxBytesReader(w, r.Body, maxForm)
			answer(w, r, who)
		}
	})
}

// show writes a page.
func (p *pages) show(w http.ResponseWriter, status int, name string, v view) {
	v.Style, v.Script = p.style, p.script
	var page bytes.Buffer
	if err := p.templates[name].Execute(&page, v); err != nil {
		p.Log.Error("a page cannot be made", "page", name, "error", err)
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes()) // a client that is gone
}

// failure shows why something failed; status 0 is that of the failure's kind.
func (p *pages) failure(w http.ResponseWriter, who users.Person, err error, status int) {
	if status == 0 {
		status = statusOf(err)
	}
	p.show(w, status, "failure", view{Title: p.Text.Sentence("web.failure.title", nil), Person: who, Error: p.words(err)})
}

// words are a failure in words.
func (p *pages) words(err error) *shownError {
	message, hint := p.Text.Error(measure.AsError(err, measure.KindInternal))
	return &shownError{message, hint}
}

func (p *pages) auditPage(w http.ResponseWriter, r *http.Request, who users.Person) {
	entries, err := p.Users.Entries(r.Context(), shownEntries)
	if err != nil {
		p.failure(w, who, err, 0)
		return
	}
	p.show(w, http.StatusOK, "audit", view{Title: p.Text.Sentence("web.audit.title", nil), Person: who, Page: entries})
}

// onThisHub is a path to go to after logging in: nothing of another host.
func onThisHub(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}
	return cmp.Or(u.RequestURI(), "/")
}

// roughly is a span of time for people.
func roughly(d time.Duration) string {
	switch {
	case d >= time.Hour:
		text := strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
		if hours, whole := strings.CutSuffix(text, "h0m"); whole {
			return hours + "h"
		}
		return text
	case d >= time.Second:
		return d.Round(time.Second).String()
	}
	return d.Round(time.Millisecond).String()
}

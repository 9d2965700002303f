package web_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"soku/internal/agent"
	"soku/internal/fleet"
	"soku/internal/fleet/enrol"
	"soku/internal/hub"
	"soku/internal/hub/campaigns"
	"soku/internal/hub/users"
	"soku/internal/web"
	"soku/test/tier"
)

func TestEachRoleMayDoWhatItMay(t *testing.T) {
	tier.SpendsSeconds(t)
	s := newSite(t)
	s.agents.all = []hub.Agent{{ID: "UABC", Name: "vm1", State: hub.Connected}}
	ask := map[users.Role]string{}
	for _, role := range users.Roles {
		s.as(t, string(role), role)
		made, err := s.users.MakeToken(t.Context(), string(role), users.Admin, 0)
		if err != nil {
			t.Fatal(err)
		}
		ask[role] = made
	}
	for _, c := range []struct {
		method, path, body string
		least              users.Role
		status             int // for who may
	}{
		{http.MethodGet, "/api/v1/hub", "", users.Viewer, 200},
		{http.MethodGet, "/api/v1/agents", "", users.Viewer, 200},
		{http.MethodGet, "/api/v1/campaigns", "", users.Viewer, 200},
		{http.MethodGet, "/api/v1/campaigns/none", "", users.Viewer, 404},
		{http.MethodPost, "/api/v1/plans", s.plan("t"), users.Viewer, 200},
		{http.MethodPost, "/api/v1/tokens", "{}", users.Operator, 200},
		{http.MethodGet, "/api/v1/tokens", "", users.Operator, 200},
		{http.MethodDelete, "/api/v1/tokens/none", "", users.Operator, 404},
		{http.MethodPost, "/api/v1/campaigns", "campaign: [", users.Operator, 400},
		{http.MethodPost, "/api/v1/campaigns/none/stop", "", users.Operator, 404},
		{http.MethodPost, "/api/v1/campaigns/none/confirm", `{"question":1}`, users.Operator, 404},
		{http.MethodPost, "/api/v1/agents/vm1/revoke", "", users.Admin, 200},
		{http.MethodGet, "/api/v1/nats-config", "", users.Admin, 200},
		{http.MethodGet, "/api/v1/users", "", users.Admin, 200},
		{http.MethodPost, "/api/v1/users", `{"name":"<b>","role":"viewer"}`, users.Admin, 400},
		{http.MethodDelete, "/api/v1/users/none", "", users.Admin, 404},
		{http.MethodPost, "/api/v1/users/none/role", `{"role":"admin"}`, users.Admin, 404},
		{http.MethodPost, "/api/v1/users/none/link", "", users.Admin, 404},
		{http.MethodPost, "/api/v1/users/none/tokens", `{"role":"viewer"}`, users.Admin, 404},
		{http.MethodDelete, "/api/v1/users/none/tokens", "", users.Admin, 404},
		{http.MethodGet, "/api/v1/audit", "", users.Admin, 200},
	} {
		for _, role := range users.Roles {
			want := http.StatusForbidden
			if role.May(c.least) {
				want = c.status
			}
			if got := s.call(t, ask[role], c.method, c.path, c.body); got.status != want {
				t.Errorf("%s %s as %s: %d, want %d: %s", c.method, c.path, role, got.status, want, got.body)
			}
			if c.method != http.MethodGet {
				continue
			}
			if got := s.call(t, ask[role], http.MethodHead, c.path, ""); got.status != want {
				t.Errorf("HEAD %s as %s: %d, want %d", c.path, role, got.status, want)
			}
		}
		if got := s.call(t, token, c.method, c.path, c.body); got.status != c.status {
			t.Errorf("%s %s with the token of the file: %d, want %d: %s", c.method, c.path, got.status, c.status, got.body)
		}
		for _, bearer := range []string{"", token + "x", "soku-api-x"} {
			if got := s.call(t, bearer, c.method, c.path, c.body); got.status != http.StatusUnauthorized {
				t.Errorf("%s %s with the token %q: %d", c.method, c.path, bearer, got.status)
			}
		}
	}
	if len(s.revoked) != 2 {
		t.Errorf("%q were revoked", s.revoked)
	}
}

func TestAWrongRoleGetsAPage(t *testing.T) {
	tier.SpendsSeconds(t)
	s := newSite(t)
	v := s.as(t, "v", users.Viewer)
	v.get("/").has(t, 200, "Check a plan", "v (viewer)")
	if page := v.get("/").body; strings.Contains(page, `action="/join"`) || strings.Contains(page, `value="start"`) || strings.Contains(page, "/audit") {
		t.Error("a viewer is offered what a viewer may not do")
	}
	v.get("/audit").has(t, 403, "needs the role admin")
	v.do(http.NewRequestWithContext(t.Context(), http.MethodHead, s.URL+"/audit", nil)).has(t, 403)
	v.post("/join", url.Values{"uses": {"1"}}).has(t, 403, "needs the role operator")
	v.submit("check", s.plan("t")).has(t, 200, "3 rounds")
	v.submit("start", s.plan("t")).has(t, 403, "needs the role operator")
	v.post("/campaigns/x/stop", nil).has(t, 403)
	v.post("/campaigns/x/confirm", nil).has(t, 403)
	if len(s.campaigns.States()) > 0 {
		t.Error("a viewer has started a campaign")
	}
	s.as(t, "a", users.Admin).get("/audit").has(t, 200, "password", "127.0.0.1")
}

func TestOthersAreAskedToLogIn(t *testing.T) {
	tier.SpendsSeconds(t)
	s := newSite(t)
	b := s.browser(t)
	for path, want := range map[string]string{"/": "/login", "/campaigns/x?a=b": "/login?next=%2Fcampaigns%2Fx%3Fa%3Db", "/audit": "/login?next=%2Faudit"} {
		if r := b.get(path); r.status != http.StatusSeeOther || r.location != want {
			t.Errorf("%s: %d, %s", path, r.status, r.location)
		}
	}
	b.get("/nothing").has(t, 404, "no such page")
	s.as(t, "mika", users.Viewer)
	b.post("/login", url.Values{"name": {"mika"}, "password": {"wrong"}}).has(t, 401, "wrong", `value="mika"`)
	for next, want := range map[string]string{"/audit": "/audit", "//evil.example/": "/", "https://evil.example": "/", `/\evil.example`: "/", "": "/", "javascript:alert(1)": "/"} {
		r := b.post("/login", url.Values{"name": {"mika"}, "password": {password}, "next": {next}})
		if r.status != http.StatusSeeOther || r.location != want {
			t.Errorf("next %q: %d, %s", next, r.status, r.location)
		}
		for _, attribute := range []string{"__Host-soku=", "; Path=/;", "; HttpOnly", "; Secure", "; SameSite=Lax"} {
			if cookie := r.header.Get("Set-Cookie"); !strings.Contains(cookie, attribute) || strings.Contains(cookie, "Domain") {
				t.Errorf("the cookie is %s", cookie)
			}
		}
	}
	b.get("/").has(t, 200)
	if r := b.post("/logout", nil); r.status != http.StatusSeeOther {
		t.Errorf("%+v", r)
	}
	if r := b.get("/"); r.status != http.StatusSeeOther {
		t.Errorf("after logging out: %+v", r)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/logout", nil)
	if err == nil {
		r.Header.Set("Cookie", "__Host-soku=invented")
	}
	b.do(r, err)
	entries, err := s.users.Entries(t.Context(), 1)
	if err != nil || len(entries) != 1 || entries[0].Action != users.ActionLogOut || entries[0].Who != "mika" {
		t.Errorf("the newest entry of the log is %+v, %v", entries, err)
	}
	for range 11 {
		b.post("/login", url.Values{"name": {"other"}, "password": {"wrong"}})
	}
	b.post("/login", url.Values{"name": {"other"}, "password": {"wrong"}}).has(t, 429, "too many tries")
}

func TestTheLinkOfTheFirstAdminWorksOnce(t *testing.T) {
	tier.SpendsSeconds(t)
	s := newSite(t)
	link, err := s.users.FirstLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b := s.browser(t)
	b.get("/welcome/"+link).has(t, 200, "first admin")
	b.post("/welcome/"+link, url.Values{"name": {"root"}, "password": {password}, "again": {password + "."}}).has(t, 400, "differ", `value="root"`)
	b.post("/welcome/"+link, url.Values{"name": {"root"}, "password": {"short"}, "again": {"short"}}).has(t, 400, "12 characters")
	if r := b.post("/welcome/"+link, url.Values{"name": {"root"}, "password": {password}, "again": {password}}); r.status != http.StatusSeeOther || r.location != "/" {
		t.Fatalf("%+v", r)
	}
	b.get("/").has(t, 200, "root (admin)")
	other := s.browser(t)
	other.get("/welcome/"+link).has(t, 409, "used or has expired")
	other.post("/welcome/"+link, url.Values{"name": {"evil"}, "password": {password}, "again": {password}}).has(t, 409, "used or has expired")
}

func TestAnotherSiteCannotSendForms(t *testing.T) {
	tier.SpendsSeconds(t)
	s := newSite(t)
	b := s.as(t, "root", users.Admin)
	for _, path := range []string{"/join", "/logout", "/start", "/login", "/campaigns/x/stop", "/api/v1/tokens", "/api/v1/users"} {
		for field, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, strings.NewReader(""))
			if err == nil {
				r.Header.Set(field, value)
			}
			if got := b.do(r, err); got.status != http.StatusForbidden {
				t.Errorf("%s with %s %s: %d", path, field, value, got.status)
			}
		}
	}
	b.get("/").has(t, 200) // still logged in
}

// Names of agents, campaigns and labels come from other hosts and from plans.
func TestHostileNamesAreText(t *testing.T) {
	tier.SpendsSeconds(t)
	s := newSite(t)
	evil := `"><script>alert(1)</script><img src=x onerror=alert(1)>` + "\u202e\x1b[31m"
	s.agents.all = []hub.Agent{{
		ID: "UABC", Name: evil, State: hub.Away, Heard: time.Now().Add(-time.Hour), Labels: map[string]string{"zone": evil, "'><b>": "x"},
		Hello: fleet.Hello{Platform: evil, Program: evil, Addresses: []fleet.Address{{Address: evil}}},
	}}
	close(s.pass)
	b := s.as(t, "op", users.Operator)
	started := b.submit("start", s.plan(evil))
	if started.status != http.StatusSeeOther {
		t.Fatalf("%+v", started)
	}
	id := strings.TrimPrefix(started.location, "/campaigns/")
	s.until(t, id, func(c campaigns.State) bool { return c.EndedAt != nil })
	pages := map[string]answer{
		"/": b.get("/"), "plan": b.submit("check", evil), "checked": b.submit("check", s.plan(evil)), "campaign": b.get(started.location), "report": b.get(started.location + "/report"),
		"selection": b.get("/?agents=" + url.QueryEscape(evil)), "campaign of that name": b.get("/campaigns/" + url.PathEscape(evil)),
		"labels": b.post("/join", url.Values{"labels": {evil}}), "login": b.post("/login", url.Values{"name": {evil}, "next": {evil}}),
	}
	for name, page := range pages {
		if found := tag.FindString(page.body); found != "" || name != "plan" && strings.ContainsAny(page.body, "\x1b\u202e") { // a person's own text stays as it is
			t.Errorf("%s has %q: %s", name, found, page.body)
		}
		if csp := page.header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'; ") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s: %s", name, csp)
		}
	}
	pages["/"].has(t, 200, "away for 1h", "&lt;script&gt;")
}

func TestTheOverviewSaysHowAgentsAre(t *testing.T) {
	tier.SpendsSeconds(t)
	s := newSite(t)
	now := time.Now()
	s.agents.all = []hub.Agent{
		{ID: "UA", Name: "a", State: hub.Connected, Heard: now, Labels: map[string]string{"zone": "west"}, ClockAt: now, Clock: agent.Clock{Offset: -3 * time.Second, Uncertainty: time.Millisecond}},
		{ID: "UB", Name: "b", State: hub.Cloned, Heard: now, Labels: map[string]string{"zone": "east"}},
		{ID: "UC", Name: "c", State: hub.Connected, Heard: now, Beat: fleet.Beat{Full: true}},
	}
	b := s.as(t, "op", users.Operator)
	b.get("/").has(t, 200, "Agents: 3", "clock 3s behind", "cloned", "spool full", "/?agents=zone%3Dwest#agents")
	if page := b.get("/?agents=zone%3Dwest"); !strings.Contains(page.body, ">a<") || strings.Contains(page.body, ">b<") {
		t.Error(page.body)
	}
	b.get("/?agents=zone%3Dsouth").has(t, 404, "no agent is")
	b.post("/join", url.Values{"uses": {"2"}, "labels": {"zone=west, sku=basic"}}).has(t, 200, "soku agent --hub https://hub:7660 --pin 3f0a --join soku-join-")
	b.post("/join", url.Values{"uses": {"51"}}).has(t, 400, "from 1 to 50")
	b.post("/join", url.Values{"labels": {"=x"}}).has(t, 400, "key of a label")
}

func TestACampaignFromItsPlanToItsReport(t *testing.T) {
	tier.SpendsSeconds(t)
	s := newSite(t)
	b := s.as(t, "op", users.Operator)
	b.submit("check", "campaign: [").has(t, 400, "campaign: [")
	b.submit("check", "").has(t, 400, "there is no plan")
	b.submit("check", strings.Repeat("#", 1<<20+1)).has(t, 400, "at most 1.049 MB")
	b.submit("check", strings.Repeat("#", 1<<22)).has(t, 400, "read the plan")
	b.submit("start", "campaign: c\nbefore: touch x\n"+s.plan("t")[len("campaign: west\n"):]).has(t, 409, "runs no commands")
	b.submit("check", s.plan("t")).has(t, 200, "3 rounds", "about", `value="start"`)
	labelled := "campaign: c\npairs: {between: [{agents: zone=west}, [gw]]}\nendpoints: {gw: {address: 10.0.0.9}}\ntests: {up: {test: tcp}}\n"
	b.submit("check", labelled).has(t, 200, "<dt>zone=west</dt>", "vm7", "vm8")
	started := b.submit("start", s.plan("t"))
	if started.status != http.StatusSeeOther {
		t.Fatalf("%+v", started)
	}
	page, id := started.location, strings.TrimPrefix(started.location, "/campaigns/")
	s.until(t, id, func(c campaigns.State) bool { return len(c.Running) == 1 })
	s.waiting = []hub.Wait{{Holder: id, Hosts: []string{"UABC"}, For: []string{"other"}}, {Holder: "z", Hosts: []string{"UZ"}}}
	b.get(page).has(t, 200, `<noscript><meta http-equiv="refresh"`, "0 of 3 trials", "Stop the campaign", "for UABC, used by other")
	if strings.Contains(b.get(page).body, "UZ") {
		t.Error("a campaign shows what another waits for")
	}
	b.get("/").has(t, 200, page)
	b.get(page+"/report").has(t, 404, "no results")
	s.pass <- struct{}{}
	s.until(t, id, func(c campaigns.State) bool { return c.Done == 1 })
	first := b.get(page + "/report")
	close(s.pass)
	follow := b.get(page + "/live") // until the end of the campaign
	follow.has(t, 200, "data: ", "1 of 3 trials", "3 of 3 trials", "\nevent: end\n")
	if kind := follow.header.Get("Content-Type"); kind != "text/event-stream" {
		t.Error(kind)
	}
	s.until(t, id, func(c campaigns.State) bool { return c.EndedAt != nil })
	b.get(page).has(t, 200, "Ended", "3 of 3 trials", page+"/report")
	if strings.Contains(b.get(page).body, "refresh") {
		t.Error("the page of a campaign that ended loads itself again")
	}
	last := b.get(page + "/report")
	last.has(t, 200, "<title>", "<svg")
	if last.body == first.body {
		t.Error("the report is that of an earlier state")
	}
	_, style, _ := strings.Cut(last.body, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	sum := sha256.Sum256([]byte(style))
	if csp := last.header.Get("Content-Security-Policy"); !strings.Contains(csp, base64.StdEncoding.EncodeToString(sum[:])) || strings.Contains(last.body, " style=") {
		t.Errorf("%s does not allow the style of the report", csp)
	}
	b.get("/campaigns/none/report").has(t, 404)
	b.post(page+"/stop", nil).has(t, 404, "does not run")
	entries, err := s.users.Entries(t.Context(), 100)
	if err != nil || !logged(entries, users.ActionStart, id, "") || !logged(entries, users.ActionStop, id, "hub.campaign.not_running") {
		t.Errorf("%+v, %v", entries, err)
	}
}

// A page with nothing on it yet says what to do next.
func TestAnEmptyHubSaysWhatIsNext(t *testing.T) {
	s := newSite(t)
	s.as(t, "op", users.Operator).get("/").has(t, 200, "No agent has joined yet. Make a join command", "<details open>", "Where two agents are connected")
	s.as(t, "vi", users.Viewer).get("/").has(t, 200, "An operator or an admin makes the command")
	s.agents.all = thousand(time.Now())[:3]
	s.agents.all[2].State = hub.Cloned
	s.as(t, "ed", users.Operator).get("/").has(t, 200, "2 connected, 1 cloned", "let one join again", ">now<")
}

func TestACampaignIsStopped(t *testing.T) {
	tier.SpendsSeconds(t)
	s := newSite(t)
	b := s.as(t, "op", users.Operator)
	page := b.submit("start", s.plan("t")).location
	id := strings.TrimPrefix(page, "/campaigns/")
	s.until(t, id, func(c campaigns.State) bool { return len(c.Running) == 1 })
	if r := b.post(page+"/stop", nil); r.status != http.StatusSeeOther || r.location != page {
		t.Fatalf("%+v", r)
	}
	s.until(t, id, func(c campaigns.State) bool { return c.EndedAt != nil })
	b.get(page).has(t, 200, "op has stopped the campaign", "soku-hub run plan.yaml --resume")
}

func TestAHubThatStartsAgainShowsWhatEndedBefore(t *testing.T) {
	tier.SpendsSeconds(t)
	s := newSite(t)
	b := s.as(t, "op", users.Operator)
	page := b.submit("start", s.plan("t")).location
	id := strings.TrimPrefix(page, "/campaigns/")
	s.pass <- struct{}{}
	s.until(t, id, func(c campaigns.State) bool { return c.Done == 1 && len(c.Running) == 1 })
	b.post(page+"/stop", nil)
	s.until(t, id, func(c campaigns.State) bool { return c.EndedAt != nil })
	s.restart(t)
	if _, err := s.campaigns.TakeOver(t.Context()); err != nil {
		t.Fatal(err)
	}
	b = s.as(t, "ed", users.Operator)
	b.get(page).has(t, 200, "Ended before all trials were done", "1 of 3 trials", "op has stopped the campaign", ", ended <time")
	b.get("/").has(t, 200, page, "1 of 3")
	b.get("/campaigns").has(t, 200, page)
	b.get("/campaigns?after="+id).has(t, 200, "no older campaigns")
	b.get("/campaigns?after=none").has(t, 404)
	s.call(t, token, http.MethodGet, "/api/v1/campaigns/"+id, "").has(t, 200, `"done":1`, `"live":false`, "hub.stopped")
	s.call(t, token, http.MethodGet, "/api/v1/campaigns?limit=1", "").has(t, 200, id, `"done":1`)
	for _, limit := range []string{"0", "1001", "many"} {
		s.call(t, token, http.MethodGet, "/api/v1/campaigns?limit="+limit, "").has(t, 400, "web.campaigns.limit")
	}
	s.call(t, token, http.MethodGet, "/api/v1/campaigns?after="+id, "").has(t, 200, "[]")
	s.call(t, token, http.MethodGet, "/api/v1/campaigns/none", "").has(t, 404, "store.no_campaign")
}

func logged(all []users.Entry, action users.Action, subject, failure string) bool {
	for _, e := range all {
		if e.Action == action && e.Subject == subject && e.Failure == failure && e.Who == "op" && e.Address == "127.0.0.1" {
			return true
		}
	}
	return false
}

func TestUsersAreManagedByTheAPI(t *testing.T) {
	tier.SpendsSeconds(t)
	s := newSite(t)
	var l web.UserLink
	r := s.call(t, token, http.MethodPost, "/api/v1/users", `{"name":"mika","role":"operator"}`)
	if err := json.Unmarshal([]byte(r.body), &l); err != nil || r.status != 200 {
		t.Fatal(r, err)
	}
	b := s.browser(t)
	path := strings.TrimPrefix(l.Link, "https://hub:7660")
	if r := b.post(path, url.Values{"password": {password}, "again": {password}}); r.status != http.StatusSeeOther {
		t.Fatalf("%s: %+v", l.Link, r)
	}
	b.get("/").has(t, 200, "mika (operator)")
	s.call(t, token, http.MethodPost, "/api/v1/users/mika/role", `{"role":"viewer"}`).has(t, 200)
	b.get("/").has(t, 200, "mika (viewer)")
	var made web.UserToken
	r = s.call(t, token, http.MethodPost, "/api/v1/users/mika/tokens", `{"role":"viewer"}`)
	if err := json.Unmarshal([]byte(r.body), &made); err != nil {
		t.Fatal(r, err)
	}
	s.call(t, made.Token, http.MethodGet, "/api/v1/hub", "").has(t, 200)
	s.call(t, token, http.MethodDelete, "/api/v1/users/mika/tokens", "").has(t, 200)
	s.call(t, made.Token, http.MethodGet, "/api/v1/hub", "").has(t, 401)
	s.call(t, token, http.MethodDelete, "/api/v1/users/mika", "").has(t, 200)
	if r := b.get("/"); r.status != http.StatusSeeOther {
		t.Errorf("a session outlives its user: %+v", r)
	}
}

func TestWhatWasDoneIsLoggedWhenTheClientIsGone(t *testing.T) {
	tier.SpendsSeconds(t)
	s := newSite(t)
	s.agents.all = []hub.Agent{{ID: "UABC", Name: "vm1", State: hub.Connected}}
	ctx, leave := context.WithCancel(t.Context())
	s.revoking = func(served context.Context) {
		leave()
		<-served.Done()
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/api/v1/agents/vm1/revoke", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if answer, err := s.Client().Do(r); err == nil {
		_ = answer.Body.Close()
		t.Fatal("the client is still there")
	}
	s.Close() // waits for the request
	entries, err := s.users.Entries(t.Context(), 1)
	if err != nil || len(entries) != 1 || entries[0].Action != users.ActionRevoke || entries[0].Subject != "UABC" {
		t.Errorf("%+v, %v", entries, err)
	}
}

func TestAJoinTokenIsListedAndEnds(t *testing.T) {
	tier.SpendsSeconds(t)
	s := newSite(t)
	var made web.Token
	r := s.call(t, token, http.MethodPost, "/api/v1/tokens", `{"uses":2}`)
	if err := json.Unmarshal([]byte(r.body), &made); err != nil || made.ID == "" {
		t.Fatal(r, err)
	}
	list := s.call(t, token, http.MethodGet, "/api/v1/tokens", "")
	list.has(t, 200, made.ID, `"uses":2`)
	if strings.Contains(list.body, strings.TrimPrefix(made.Secret, enrol.TokenPrefix)) {
		t.Error("the list has the secret")
	}
	s.call(t, token, http.MethodDelete, "/api/v1/tokens/"+made.ID, "").has(t, 200)
	if list := s.call(t, token, http.MethodGet, "/api/v1/tokens", ""); strings.TrimSpace(list.body) != "[]" {
		t.Errorf("after its end: %s", list.body)
	}
	entries, err := s.users.Entries(t.Context(), 1)
	if err != nil || len(entries) != 1 || entries[0].Action != users.ActionUnjoin || entries[0].Subject != made.ID {
		t.Errorf("%+v, %v", entries, err)
	}
}

func TestAFailureOfTheDatabaseIsNotForStrangers(t *testing.T) {
	tier.SpendsSeconds(t)
	s := newSite(t)
	link, err := s.users.FirstLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b := s.as(t, "mika", users.Viewer)
	if err := s.store.Close(); err != nil {
		t.Fatal(err)
	}
	answers := map[string]answer{
		"page": b.get("/"), "link": b.get("/welcome/" + link), "password": b.post("/welcome/"+link, url.Values{"password": {password}, "again": {password}}),
		"login": b.post("/login", url.Values{"name": {"mika"}, "password": {password}}), "logout": b.post("/logout", nil),
		"API": s.call(t, "soku-api-x", http.MethodGet, "/api/v1/hub", ""),
	}
	for name, a := range answers {
		if a.status != http.StatusInternalServerError || strings.Contains(a.body, s.store.Name()) || !strings.Contains(a.body, "could not work on the request") {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
}

func TestPathsOfTheAPIThatAreNotThereAnswerInJSON(t *testing.T) {
	tier.SpendsSeconds(t)
	s := newSite(t)
	for _, c := range []struct {
		method, path string
		status       int
		code         string
	}{
		{http.MethodGet, "/api/v1/nothing", 404, "web.page"}, {http.MethodPut, "/api/v1/agents", 404, "web.page"},
		{http.MethodGet, fleet.PathJoin, 405, "enrol.method"}, {http.MethodHead, fleet.PathJoin, 405, ""},
	} {
		got := s.call(t, token, c.method, c.path, "")
		if got.status != c.status || got.header.Get("Content-Type") != "application/json" || !strings.Contains(got.body, c.code) {
			t.Errorf("%s %s: %d %s", c.method, c.path, got.status, got.body)
		}
	}
}

var question = regexp.MustCompile(`name="question" value="(\d+)"`)

// A campaign asks on its page for what a person has to change. Operators confirm it.
func TestAChangeByHandIsConfirmedOnThePage(t *testing.T) {
	tier.SpendsSeconds(t)
	s := newSite(t)
	close(s.pass)
	o, v := s.as(t, "op", users.Operator), s.as(t, "v", users.Viewer)
	started := o.submit("start", s.plan("t")+"factors: {cable: {by: hand, levels: [\"<b>red\", blue]}}\n")
	page, id := started.location, strings.TrimPrefix(started.location, "/campaigns/")
	if started.status != http.StatusSeeOther {
		t.Fatalf("%+v", started)
	}
	var last int64
	for changes := 0; ; changes++ {
		var now campaigns.State
		s.until(t, id, func(c campaigns.State) bool {
			now = c
			return c.EndedAt != nil || c.Asks != nil && c.Asks.ID != last
		})
		if now.EndedAt != nil {
			if now.Done != 6 || changes < 4 {
				t.Errorf("%d changes: %+v", changes, now)
			}
			break
		}
		last = now.Asks.ID
		shown := v.get(page)
		shown.has(t, 200, "cable to ", "An operator or an admin confirms it")
		if found := tag.FindString(strings.Replace(shown.body, "<script src=\"/assets/", "", 1)); found != "" || question.MatchString(shown.body) {
			t.Errorf("%q: %s", found, shown.body)
		}
		asked := o.get(page)
		got := question.FindStringSubmatch(asked.body)
		if got == nil {
			t.Fatal(asked.body)
		}
		if r := o.post(page+"/confirm", url.Values{"question": {got[1]}}); r.status != http.StatusSeeOther || r.location != page {
			t.Errorf("%+v", r)
		}
		o.post(page+"/confirm", url.Values{"question": {got[1]}}).has(t, 409, "another person")
	}
	entries, err := s.users.Entries(t.Context(), 100)
	if err != nil || !logged(entries, users.ActionConfirm, id, "") || !logged(entries, users.ActionConfirm, id, "hub.campaign.not_asked") {
		t.Errorf("%+v, %v", entries, err)
	}
}

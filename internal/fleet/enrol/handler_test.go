package enrol_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"soku/internal/fleet"
	"soku/internal/fleet/enrol"
	"soku/internal/measure"
)

func TestABodyIsBounded(t *testing.T) {
	s, err := openSQLite(t)
	if err != nil {
		t.Fatal(err)
	}
	h := serve(t, s)
	status, _, err := post[fleet.Joined](h, fleet.PathJoin, fleet.Join{Name: strings.Repeat("x", fleet.MaxState)})
	refused(t, "a long body", status, err, http.StatusRequestEntityTooLarge, "enrol.body")
	status, _, err = post[fleet.Joined](h, fleet.PathRenew, "no object")
	refused(t, "another type", status, err, http.StatusBadRequest, "fleet.message.syntax")
	for _, path := range []string{fleet.PathNonce, fleet.PathJoin, fleet.PathRenew} {
		r, err := h.server.Client().Get(h.server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if r.StatusCode != http.StatusMethodNotAllowed || !strings.Contains(string(body), "enrol.method") {
			t.Errorf("GET %s: %d %s", path, r.StatusCode, body)
		}
	}
}

func TestWhoFailsToJoinTooOftenMustWait(t *testing.T) {
	s, err := openSQLite(t)
	if err != nil {
		t.Fatal(err)
	}
	h := serve(t, s)
	handler := h.Handler()
	join := func(from string) (int, string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, fleet.PathJoin, strings.NewReader(`{"version":1}`))
		r.RemoteAddr = from
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	last := func(n int, from func(i int) string) (status int, body string) {
		for i := range n {
			status, body = join(from(i))
		}
		return status, body
	}
	v4 := func(int) string { return "192.0.2.1:1234" }
	if status, body := last(20, v4); status != http.StatusBadRequest {
		t.Errorf("the 20th failure: %d %s", status, body)
	}
	if status, body := last(1, v4); status != http.StatusTooManyRequests || !strings.Contains(body, "192.0.2.1") {
		t.Errorf("the 21st: %d %s", status, body)
	}
	if status, _ := join("192.0.2.2:1234"); status != http.StatusBadRequest {
		t.Errorf("another address: %d", status)
	}
	v6 := func(i int) string { return "[2001:db8::" + string(rune('a'+i%6)) + "]:1" } // one network has many addresses
	if status, _ := last(21, v6); status != http.StatusTooManyRequests {
		t.Errorf("a network of IPv6: %d", status)
	}
	token := h.token(t, enrol.TokenOrder{Uses: 50})
	for range 50 {
		if _, _, err := newAgent(t).join(h, token); err != nil {
			t.Fatalf("many hosts behind one address: %v", err)
		}
	}
}

func TestAFailureOfTheDatabaseIsNotForStrangers(t *testing.T) {
	s, err := openSQLite(t)
	if err != nil {
		t.Fatal(err)
	}
	h := serve(t, s)
	token, a := h.token(t, enrol.TokenOrder{}), newAgent(t)
	if err := h.db.DB.Close(); err != nil {
		t.Fatal(err)
	}
	for range 30 { // no failures of the address
		status, _, err := a.join(h, token)
		refused(t, "without a database", status, err, http.StatusInternalServerError, "enrol.unavailable")
		if strings.Contains(err.Error(), h.db.Place) {
			t.Errorf("it names the database: %v", err)
		}
	}
	if e := h.last(); e.Error == nil || e.Error.Kind != measure.KindStore || !strings.Contains(e.Error.Error(), h.db.Place) {
		t.Errorf("the audit has %+v", e)
	}
}

func TestTextsOfAnAgentAreBoundedAndCleaned(t *testing.T) {
	s, err := openSQLite(t)
	if err != nil {
		t.Fatal(err)
	}
	h := serve(t, s)
	a := newAgent(t)
	ask, err := a.asks(h, h.token(t, enrol.TokenOrder{}))
	if err != nil {
		t.Fatal(err)
	}
	ask.Name, ask.Platform, ask.Program = "a\x1b[2J\nb\x00"+strings.Repeat("x", 1000), strings.Repeat("y", 1000), "\u202e1"
	if _, _, err := post[fleet.Joined](h, fleet.PathJoin, ask); err != nil {
		t.Fatal(err)
	}
	kept, err := h.Registry.Agent(t.Context(), a.id)
	if err != nil || len(kept.Name) > 300 || len(kept.Platform) > 70 || strings.ContainsAny(kept.Name+kept.Program, "\x1b\n\x00\u202e") {
		t.Errorf("%+v, %v", kept, err)
	}
}

package enrol_test

import (
	"encoding/base64"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"

	"soku/internal/fleet"
	"soku/internal/fleet/enrol"
	"soku/internal/measure"
)

func TestAnAgentJoinsByATokenAndRenews(t *testing.T) {
	eachDatabase(t, func(t *testing.T, h *hub) {
		labels := map[string]string{"site": "Zürich", "rack.row": "4"}
		token, a := h.token(t, enrol.TokenOrder{Labels: labels}), newAgent(t)
		status, joined, err := a.join(h, " "+token+"\n")
		if err != nil || status != http.StatusOK || joined.Hub != h.Authority.ID() || joined.NATS[0] != "tls://hub:7661" || joined.Certificates != "some" || !maps.Equal(joined.Labels, labels) {
			t.Fatalf("%d %+v, %v", status, joined, err)
		}
		_, renewed, err := a.renew(h)
		if err != nil || renewed.JWT == "" || !maps.Equal(renewed.Labels, labels) {
			t.Fatalf("%+v, %v", renewed, err)
		}
		for _, text := range []string{joined.JWT, renewed.JWT} {
			c, err := jwt.DecodeUserClaims(text)
			if err != nil || c.Subject != a.id || c.IssuerAccount != h.Authority.Account() {
				t.Fatalf("%+v, %v", c, err)
			}
			if lasts := time.Until(time.Unix(c.Expires, 0)); lasts < 23*time.Hour || lasts > fleet.JWTLasts {
				t.Errorf("it lasts %v", lasts)
			}
			if got, want := strings.Join(c.Pub.Allow, " "), strings.Join(fleet.MayPublish(a.id), " "); got != want {
				t.Errorf("it may publish to %s, want %s", got, want)
			}
			if got, want := strings.Join(c.Sub.Allow, " "), strings.Join(fleet.MayHear(a.id), " "); got != want {
				t.Errorf("it may hear %s, want %s", got, want)
			}
		}
		kept, err := h.Registry.Agent(t.Context(), a.id)
		if err != nil || kept.Name != "host" || kept.Platform != "linux/amd64" || kept.Program != "1.0" || !maps.Equal(kept.Labels, labels) ||
			time.Since(kept.JoinedAt).Abs() > time.Minute || kept.SeenAt.Before(kept.JoinedAt) || !kept.RevokedAt.IsZero() {
			t.Errorf("%+v, %v", kept, err)
		}
		if e := h.last(); e.Action != enrol.ActionRenew || e.Agent != a.id || e.By != "127.0.0.1" || e.Error != nil {
			t.Errorf("the audit has %+v", e)
		}
		if status, _, err := newAgent(t).renew(h); true {
			refused(t, "renewal of a stranger", status, err, http.StatusForbidden, "enrol.agent.unknown")
		}
	})
}

func TestOfTooManyHostsThatJoinAtTheSameTimeThoseBeyondTheUsesAreRefused(t *testing.T) {
	eachDatabase(t, func(t *testing.T, h *hub) {
		const uses, hosts = 20, 40
		token := h.token(t, enrol.TokenOrder{Uses: uses})
		hubs := []*hub{h} // as several processes share a database
		for range 9 {
			hubs = append(hubs, serveTables(t, h.db))
		}
		var all sync.WaitGroup
		failures := make(chan error, hosts)
		for i := range hosts {
			a := newAgent(t)
			all.Go(func() {
				_, _, err := a.join(hubs[i%len(hubs)], token)
				failures <- err
			})
		}
		all.Wait()
		close(failures)
		refusals := 0
		for err := range failures {
			if err != nil {
				refusals++
				if measure.AsError(err, "").Code != "enrol.token.used" {
					t.Error(err)
				}
			}
		}
		if refusals != hosts-uses {
			t.Errorf("%d are refused", refusals)
		}
		agents, err := h.Registry.Agents(t.Context(), "", 100)
		if err != nil || len(agents) != uses {
			t.Errorf("%d agents, %v", len(agents), err)
		}
		rest, err := h.Registry.Agents(t.Context(), agents[4].ID, 3)
		if err != nil || len(rest) != 3 || rest[0].ID != agents[5].ID {
			t.Errorf("a page has %v, %v", rest, err)
		}
		if tokens, err := h.Registry.Tokens(t.Context()); err != nil || len(tokens) != 1 || tokens[0].Used != uses {
			t.Errorf("%+v, %v", tokens, err)
		}
	})
}

// The answer to a request may be lost: the agent asks again by a token that it has used.
func TestAnAgentThatRepeatsItsRequestUsesTheTokenOnce(t *testing.T) {
	eachDatabase(t, func(t *testing.T, h *hub) {
		token, a := h.token(t, enrol.TokenOrder{}), newAgent(t)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if _, _, err := a.join(h, token); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if status, _, err := newAgent(t).join(h, token); true {
			refused(t, "another agent", status, err, http.StatusForbidden, "enrol.token.used")
		}
		next := h.token(t, enrol.TokenOrder{Labels: map[string]string{"site": "b"}})
		if _, joined, err := a.join(h, next); err != nil || joined.Labels["site"] != "b" {
			t.Errorf("it joins again with %+v, %v", joined, err)
		}
		if kept, err := h.Registry.Agent(t.Context(), a.id); err != nil || kept.Labels["site"] != "b" {
			t.Errorf("%+v, %v", kept, err)
		}
	})
}

func TestEachTokenThatCannotBeUsedHasItsOwnSentence(t *testing.T) {
	eachDatabase(t, func(t *testing.T, h *hub) {
		a := newAgent(t)
		expired, used, ended := h.token(t, enrol.TokenOrder{}), h.token(t, enrol.TokenOrder{}), h.token(t, enrol.TokenOrder{})
		if _, err := h.db.DB.ExecContext(t.Context(), `UPDATE fleet_token SET expires_at = made_at - 1`); err != nil {
			t.Fatal(err)
		}
		if _, err := h.db.DB.ExecContext(t.Context(), h.db.Dialect.SQL(`UPDATE fleet_token SET expires_at = made_at + 60000 WHERE substr(hash, 1, 12) <> ?`), enrol.TokenID(expired)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := newAgent(t).join(h, used); err != nil {
			t.Fatal(err)
		}
		if err := h.EndToken(t.Context(), enrol.TokenID(ended), "admin"); err != nil {
			t.Fatal(err)
		}
		sentences := map[string]bool{}
		for token, code := range map[string]string{
			"": "enrol.token.unknown", enrol.TokenPrefix + "aaaa": "enrol.token.unknown", ended: "enrol.token.unknown",
			strings.ToUpper(used): "enrol.token.unknown", expired: "enrol.token.expired", used: "enrol.token.used",
		} {
			status, _, err := a.join(h, token)
			refused(t, token, status, err, http.StatusForbidden, code)
			sentences[measure.AsError(err, "").Message] = true
			if e := h.last(); e.Error == nil || e.Error.Code != code || e.Agent != a.id || e.Token != enrol.TokenID(token) {
				t.Errorf("the audit has %+v", e)
			}
		}
		if len(sentences) != 3 {
			t.Errorf("%v", sentences)
		}
		if _, err := h.Registry.Agent(t.Context(), a.id); measure.KindOf(err) != measure.KindNotFound {
			t.Errorf("an agent that was refused is there: %v", err)
		}
		if err := h.EndToken(t.Context(), "none", "admin"); measure.KindOf(err) != measure.KindNotFound {
			t.Error(err)
		}
	})
}

func TestATokenIsKeptAsItsHashAlone(t *testing.T) {
	eachDatabase(t, func(t *testing.T, h *hub) {
		secret, token, err := h.MakeToken(t.Context(), enrol.TokenOrder{}, "admin")
		random, found := strings.CutPrefix(secret, "soku-join-")
		if err != nil || !found || len(random)*5 < 160 || token.ID != enrol.TokenID(secret) || token.Uses != 1 || (token.ExpiresAt.Sub(token.MadeAt)-time.Hour).Abs() > time.Second {
			t.Errorf("%q %+v, %v", secret, token, err)
		}
		var n int
		if err := h.db.DB.QueryRowContext(t.Context(), h.db.Dialect.SQL(`SELECT count(*) FROM fleet_token WHERE hash LIKE ?`), "%"+random+"%").Scan(&n); err != nil || n != 0 {
			t.Errorf("%d rows have the secret, %v", n, err)
		}
		if e := h.last(); e.Action != enrol.ActionToken || strings.Contains(e.Token, random) || e.By != "admin" {
			t.Errorf("the audit has %+v", e)
		}
		many, value := map[string]string{}, strings.Repeat("x", enrol.MaxLabelValue)
		for i := range enrol.MaxLabels + 1 {
			many[strings.Repeat("k", i+1)] = value
		}
		for what, o := range map[string]enrol.TokenOrder{
			"lasts too long": {Lasts: enrol.MaxTokenLasts + 1}, "lasts less than no time": {Lasts: -1}, "too many uses": {Uses: enrol.MaxTokenUses + 1},
			"fewer uses than none": {Uses: -1}, "too many labels": {Labels: many}, "an empty key": {Labels: map[string]string{"": ""}},
			"a capital": {Labels: map[string]string{"A": ""}}, "a long key": {Labels: map[string]string{strings.Repeat("k", enrol.MaxLabelKey+1): ""}},
			"a long value": {Labels: map[string]string{"k": value + "x"}}, "a control character": {Labels: map[string]string{"k": "a\x1b[2J"}},
			"no text": {Labels: map[string]string{"k": "\xff"}},
		} {
			if _, _, err := h.MakeToken(t.Context(), o, "admin"); measure.KindOf(err) != measure.KindUsage {
				t.Errorf("%s: %v", what, err)
			}
		}
		delete(many, "k")
		if _, _, err := h.MakeToken(t.Context(), enrol.TokenOrder{Labels: many, Uses: enrol.MaxTokenUses, Lasts: enrol.MaxTokenLasts}, "admin"); err != nil {
			t.Error(err)
		}
	})
}

func TestARevokedAgentNeitherRenewsNorJoins(t *testing.T) {
	eachDatabase(t, func(t *testing.T, h *hub) {
		token, a, other := h.token(t, enrol.TokenOrder{Uses: 3}), newAgent(t), newAgent(t)
		for _, one := range []agent{a, other} {
			if _, _, err := one.join(h, token); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := h.Registry.Revoke(t.Context(), a.id); err != nil {
			t.Fatal(err)
		}
		status, _, err := a.renew(h)
		refused(t, "renewal", status, err, http.StatusForbidden, "enrol.agent.revoked")
		for _, by := range []string{token, h.token(t, enrol.TokenOrder{})} {
			status, _, err = a.join(h, by)
			refused(t, "join", status, err, http.StatusForbidden, "enrol.agent.revoked")
		}
		if _, _, err := newAgent(t).join(h, token); err != nil {
			t.Errorf("the refusal has used the token: %v", err)
		}
		if _, _, err := other.renew(h); err != nil {
			t.Error(err)
		}
		revoked, err := h.Registry.Revoked(t.Context())
		if err != nil || len(revoked) != 1 || time.Since(revoked[a.id]).Abs() > time.Minute {
			t.Errorf("%v, %v", revoked, err)
		}
		accounts, err := h.AccountJWTs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		// Also a JWT that was made while the clock of the hub was ahead.
		c, err := jwt.DecodeAccountClaims(accounts[h.Authority.Account()])
		if err != nil || !c.IsClaimRevoked(&jwt.UserClaims{ClaimsData: jwt.ClaimsData{Subject: a.id, IssuedAt: time.Now().Add(time.Hour).Unix()}}) {
			t.Errorf("%+v, %v", c, err)
		}
		first, err := h.Registry.Agent(t.Context(), a.id)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := h.Registry.Revoke(t.Context(), a.id); err != nil || !again.RevokedAt.Equal(first.RevokedAt) {
			t.Errorf("revoked again: %+v, %v", again, err)
		}
		if _, err := h.Registry.Revoke(t.Context(), newAgent(t).id); measure.KindOf(err) != measure.KindNotFound {
			t.Error(err)
		}
		if _, err := h.db.DB.ExecContext(t.Context(), h.db.Dialect.SQL(`UPDATE fleet_agent SET revoked_at = ? WHERE id = ?`), time.Now().Add(-3*fleet.JWTLasts).UnixMilli(), a.id); err != nil {
			t.Fatal(err)
		}
		if revoked, err := h.Registry.Revoked(t.Context()); err != nil || len(revoked) != 0 {
			t.Errorf("its JWTs have ended, and there are still %v, %v", revoked, err)
		}
		status, _, err = a.renew(h)
		refused(t, "renewal after days", status, err, http.StatusForbidden, "enrol.agent.revoked")
	})
}

func TestARequestThatIsNotProvedIsRefused(t *testing.T) {
	s, err := openSQLite(t)
	if err != nil {
		t.Fatal(err)
	}
	h := serve(t, s)
	token, a := h.token(t, enrol.TokenOrder{Uses: 10}), newAgent(t)
	replayed, err := a.asks(h, token)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := post[fleet.Joined](h, fleet.PathJoin, replayed); err != nil {
		t.Fatal(err)
	}
	status, _, err := post[fleet.Joined](h, fleet.PathJoin, replayed)
	refused(t, "a nonce that was used", status, err, http.StatusUnauthorized, "enrol.nonce.used")
	status, _, err = post[fleet.Joined](h, fleet.PathRenew, fleet.Renew{Agent: replayed.Agent, Nonce: replayed.Nonce, Signature: replayed.Signature})
	refused(t, "a nonce that was used elsewhere", status, err, http.StatusUnauthorized, "enrol.nonce.used")

	other := newAgent(t)
	for what, c := range map[string]struct {
		change func(*fleet.Join)
		status int
		code   string
	}{
		"another's signature": {func(j *fleet.Join) { j.Signature = other.sign(j.Nonce) }, http.StatusUnauthorized, "enrol.signature"},
		"another's identity":  {func(j *fleet.Join) { j.Agent = other.id }, http.StatusUnauthorized, "enrol.signature"},
		"no signature":        {func(j *fleet.Join) { j.Signature = "" }, http.StatusUnauthorized, "enrol.signature"},
		"no base64":           {func(j *fleet.Join) { j.Signature = strings.Repeat("!", len(j.Signature)) }, http.StatusUnauthorized, "enrol.signature"},
		"the nonce alone is signed": {func(j *fleet.Join) {
			b, _ := a.pair.Sign([]byte(j.Nonce))
			j.Signature = base64.RawURLEncoding.EncodeToString(b)
		}, http.StatusUnauthorized, "enrol.signature"},
		"an invented nonce": {func(j *fleet.Join) { j.Nonce = strings.Repeat("A", 54); j.Signature = a.sign(j.Nonce) }, http.StatusUnauthorized, "enrol.nonce.invalid"},
		"no nonce":          {func(j *fleet.Join) { j.Nonce = ""; j.Signature = a.sign("") }, http.StatusUnauthorized, "enrol.nonce.invalid"},
		"no identity":       {func(j *fleet.Join) { j.Agent = "" }, http.StatusBadRequest, "enrol.agent.syntax"},
		"a wrong checksum":  {func(j *fleet.Join) { j.Agent = "U" + strings.Repeat("A", 55) }, http.StatusBadRequest, "enrol.agent.syntax"},
		"an old version":    {func(j *fleet.Join) { j.Version = 0 }, http.StatusBadRequest, "enrol.version"},
		"a later version":   {func(j *fleet.Join) { j.Version = fleet.Version + 2 }, http.StatusBadRequest, "enrol.version"},
	} {
		ask, err := a.asks(h, token)
		if err != nil {
			t.Fatal(err)
		}
		c.change(&ask)
		status, _, err := post[fleet.Joined](h, fleet.PathJoin, ask)
		refused(t, what, status, err, c.status, c.code)
	}
}

func TestARequestWithADocumentIsProvedByItsHeader(t *testing.T) {
	s, err := openSQLite(t)
	if err != nil {
		t.Fatal(err)
	}
	h := serve(t, s)
	a := newAgent(t)
	if _, _, err := a.join(h, h.token(t, enrol.TokenOrder{})); err != nil {
		t.Fatal(err)
	}
	ask := func(a agent, nonce string) (int, *measure.Error) {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, fleet.PathResults, nil)
		r.RemoteAddr = "192.0.2.1:1"
		r.Header.Set(fleet.HeaderAgent, a.id)
		r.Header.Set(fleet.HeaderNonce, nonce)
		r.Header.Set(fleet.HeaderSignature, a.sign(nonce))
		agent, status, failure := h.VerifyRequest(r)
		if failure == nil && agent != a.id {
			t.Errorf("it is of %s", agent)
		}
		return status, failure
	}
	nonce, err := h.nonce()
	if err != nil {
		t.Fatal(err)
	}
	if status, failure := ask(a, nonce); status != http.StatusOK || failure != nil {
		t.Error(status, failure)
	}
	status, failure := ask(a, nonce)
	refused(t, "again", status, failure, http.StatusUnauthorized, "enrol.nonce.used")
	if nonce, err = h.nonce(); err != nil {
		t.Fatal(err)
	}
	status, failure = ask(newAgent(t), nonce)
	refused(t, "a stranger", status, failure, http.StatusForbidden, "enrol.agent.unknown")
	if e := h.last(); e.Action != enrol.ActionProve || e.By != "192.0.2.1" || e.Error == nil {
		t.Errorf("the audit has %+v", e)
	}
}

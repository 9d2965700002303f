package enrol_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"

	"github.com/nats-io/nkeys"

	"soku/internal/fleet"
	"soku/internal/fleet/enrol"
	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/store/postgres"
	"soku/internal/store/sqlite"
	"soku/internal/store/sqlstore"
	"soku/test/postgresql"
	"soku/test/tier"
)

func TestMain(m *testing.M) { postgresql.Main(m) }

// eachDatabase runs a test in both databases.
func eachDatabase(t *testing.T, test func(t *testing.T, h *hub)) {
	tier.SpendsSeconds(t)
	for name, open := range map[string]func(t *testing.T) (store.Store, error){
		"sqlite":     openSQLite,
		"postgresql": func(t *testing.T) (store.Store, error) { return postgres.Open(t.Context(), postgresql.Database(t)) },
	} {
		t.Run(name, func(t *testing.T) {
			s, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			test(t, serve(t, s))
		})
	}
}

func openSQLite(t *testing.T) (store.Store, error) {
	return sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "soku.db"))
}

// hub is a service that is reached over HTTPS.
type hub struct {
	*enrol.Service
	db     *sqlstore.Store
	server *httptest.Server

	mu     sync.Mutex
	events []enrol.Event
}

func serve(t *testing.T, s store.Store) *hub {
	t.Helper()
	t.Cleanup(func() { _ = s.Close() })
	db, _ := sqlstore.Of(s)
	return serveTables(t, db)
}

func serveTables(t *testing.T, db *sqlstore.Store) *hub {
	t.Helper()
	h := &hub{db: db}
	registry, err := enrol.OpenRegistry(t.Context(), h.db)
	if err != nil {
		t.Fatal(err)
	}
	authority, err := enrol.OpenAuthority(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h.Service = enrol.New(enrol.Options{Authority: authority, Registry: registry, NATS: []string{"tls://hub:7661"}, Certificates: "some", Audit: func(e enrol.Event) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.events = append(h.events, e)
	}})
	h.server = httptest.NewTLSServer(h.Handler())
	t.Cleanup(h.server.Close)
	return h
}

// last is the newest event of the audit.
func (h *hub) last() enrol.Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.events) == 0 {
		return enrol.Event{}
	}
	return h.events[len(h.events)-1]
}

func (h *hub) token(t *testing.T, o enrol.TokenOrder) string {
	t.Helper()
	secret, _, err := h.MakeToken(t.Context(), o, "admin")
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// post is the answer to a request, whose error is that of a failure.
func post[T any](h *hub, path string, message any) (status int, said T, err error) {
	body, err := json.Marshal(message)
	if err != nil {
		return 0, said, err
	}
	r, err := h.server.Client().Post(h.server.URL+path, "application/json", bytes.NewReader(body))
	if err != nil {
		return 0, said, err
	}
	defer r.Body.Close()
	var answer struct {
		Error *measure.Error `json:"error"`
	}
	var text bytes.Buffer
	if _, err := text.ReadFrom(r.Body); err != nil {
		return r.StatusCode, said, err
	}
	if err := errors.Join(json.Unmarshal(text.Bytes(), &answer), json.Unmarshal(text.Bytes(), &said)); err != nil {
		return r.StatusCode, said, err
	}
	if answer.Error != nil {
		return r.StatusCode, said, answer.Error
	}
	return r.StatusCode, said, nil
}

// agent is a host with a key.
type agent struct {
	id   string
	pair nkeys.KeyPair
}

func newAgent(t testing.TB) agent {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	id, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return agent{id, pair}
}

func (a agent) sign(nonce string) string {
	b, _ := a.pair.Sign(fleet.ToSign(nonce)) // a key from memory signs
	return base64.RawURLEncoding.EncodeToString(b)
}

func (h *hub) nonce() (string, error) {
	_, n, err := post[fleet.Nonce](h, fleet.PathNonce, nil)
	return n.Nonce, err
}

// asks is a request of an agent to join, which a test may change.
func (a agent) asks(h *hub, token string) (fleet.Join, error) {
	nonce, err := h.nonce()
	return fleet.Join{Token: token, Agent: a.id, Nonce: nonce, Signature: a.sign(nonce), Name: "host", Platform: "linux/amd64", Program: "1.0", Version: fleet.Version}, err
}

func (a agent) join(h *hub, token string) (int, fleet.Joined, error) {
	ask, err := a.asks(h, token)
	if err != nil {
		return 0, fleet.Joined{}, err
	}
	return post[fleet.Joined](h, fleet.PathJoin, ask)
}

func (a agent) renew(h *hub) (int, fleet.Joined, error) {
	nonce, err := h.nonce()
	if err != nil {
		return 0, fleet.Joined{}, err
	}
	return post[fleet.Joined](h, fleet.PathRenew, fleet.Renew{Agent: a.id, Nonce: nonce, Signature: a.sign(nonce)})
}

// refused checks the failure of a request.
func refused(t *testing.T, what string, status int, err error, wantStatus int, code string) {
	t.Helper()
	failure := measure.AsError(err, "")
	if failure == nil || status != wantStatus || failure.Code != code || failure.Message == "" {
		t.Errorf("%s: status %d, %v; want %d, %s", what, status, err, wantStatus, code)
	}
}

var _ http.Handler = (&enrol.Service{}).Handler()

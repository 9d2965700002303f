package service

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"soku/internal/campaign/journal/sqljournal"
	"soku/internal/catalog"
	"soku/internal/fleet"
	"soku/internal/fleet/broker"
	"soku/internal/fleet/enrol"
	"soku/internal/store/sqlite"
	"soku/internal/store/sqlstore"
	"soku/internal/text"
	"soku/test/freeport"
	"soku/test/tier"
)

// startBroker runs a broker of its own for the hub of a folder, and returns its address.
func startBroker(t *testing.T, folder string, db *sqlstore.Store) string {
	t.Helper()
	cert, _, err := certificate(folder, "", "", []string{"127.0.0.1"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	authority, err := enrol.OpenAuthority(filepath.Join(folder, "keys"))
	if err != nil {
		t.Fatal(err)
	}
	registry, err := enrol.OpenRegistry(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	jwts, err := enrol.New(enrol.Options{Authority: authority, Registry: registry}).AccountJWTs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	operator, err := authority.OperatorJWT()
	if err != nil {
		t.Fatal(err)
	}
	b, err := broker.Start(t.Context(), broker.Options{
		Listen: "127.0.0.1:0", TLS: &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13}, Operator: operator,
		SystemAccount: authority.SystemAccount(), Accounts: jwts, Folder: t.TempDir(), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return "tls://" + b.Address()
}

// asked is an answer.
type asked struct {
	status        int
	head          http.Header
	body, failure string
}

func ask(ctx context.Context, client *http.Client, method, url string) (a asked) {
	r, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return asked{failure: err.Error()}
	}
	got, err := client.Do(r)
	if err != nil {
		return asked{failure: err.Error()}
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err != nil {
		return asked{failure: err.Error()}
	}
	return asked{got.StatusCode, got.Header, string(body), ""}
}

func TestAHubThatWaitsSaysSoAndServesOnTheSamePort(t *testing.T) {
	tier.SpendsSeconds(t)
	folder := t.TempDir()
	st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "soku.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	db, _ := sqlstore.Of(st)
	other, err := sqljournal.Open(context.WithoutCancel(t.Context()), db, "hub on other, /secret/folder")
	if err != nil {
		t.Fatal(err)
	}
	turn, err := other.AwaitTurn(t.Context(), "https://other:7660", nil)
	if err != nil {
		t.Fatal(err)
	}
	listen := fmt.Sprintf("127.0.0.1:%d", freeport.One(t))
	url, waits := "https://"+listen, make(chan string, 1)
	o := Options{
		Folder: folder, Listen: listen, Names: []string{"127.0.0.1"}, Brokers: []string{startBroker(t, folder, db)}, Store: st,
		Limits: func() (*catalog.Catalog, error) { return catalog.Builtin(), nil }, Waits: func(holder string) { waits <- holder },
		Text: text.English(), Log: slog.New(slog.DiscardHandler),
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		s, err := Open(ctx, o)
		if err == nil {
			err = s.Serve(ctx)
			s.Close()
		}
		ended <- err
	}()
	if holder := <-waits; holder != "hub on other, /secret/folder" {
		t.Error(holder)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: fleet.Pin("").Client(), DisableKeepAlives: true}}
	client.Transport.(*http.Transport).TLSClientConfig.InsecureSkipVerify = true //nolint:gosec // its certificate is not what is tested
	page := ask(ctx, client, http.MethodGet, url+"/")
	for page.failure != "" { // it listens, and serves right after it said that it waits
		page = ask(ctx, client, http.MethodGet, url+"/")
	}
	for _, want := range []string{"The hub on other serves", "has waited since", `href="https://other:7660"`, "lasts until"} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the page has no %q: %s", want, page.body)
		}
	}
	if page.status != http.StatusServiceUnavailable || page.head.Get("Retry-After") == "" || strings.Contains(page.body, "secret") {
		t.Errorf("%+v", page)
	}
	for _, path := range []string{fleet.PathNonce, "/api/v1/hub", fleet.PathNATS} {
		api := ask(ctx, client, http.MethodPost, url+path)
		if api.status != http.StatusServiceUnavailable || api.head.Get("Retry-After") == "" || !strings.Contains(api.body, `"code":"web.waits"`) {
			t.Errorf("%s: %+v", path, api)
		}
	}
	if err := turn.Release(); err != nil {
		t.Fatal(err)
	}
	for { // no request is refused until the pages are there
		page := ask(ctx, client, http.MethodGet, url+"/login")
		if page.failure != "" || page.status != http.StatusServiceUnavailable && page.status != http.StatusOK {
			t.Fatalf("%+v", page)
		}
		if page.status == http.StatusOK {
			break
		}
	}
	if api := ask(ctx, client, http.MethodPost, url+fleet.PathNonce); api.status != http.StatusOK {
		t.Errorf("%+v", api)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if c, err := net.Dial("tcp", listen); err == nil {
		_ = c.Close()
		t.Error("the port is open after the end")
	}
}

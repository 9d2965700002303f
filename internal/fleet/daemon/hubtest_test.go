package daemon

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/nats-io/jwt/v2"
	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"soku/internal/fleet"
	"soku/internal/measure"
)

// patience is how long a test waits for what has to come.
const patience = 20 * time.Second

// testHub is a hub for one test: an HTTPS server that admits agents, a broker in operator mode, and
// what agents say.
type testHub struct {
	t       *testing.T
	https   *httptest.Server
	account nkeys.KeyPair
	options *natsserver.Options
	own     nats.Option // how the hub enters its broker
	nc      *nats.Conn

	hellos  chan fleet.Hello
	beats   chan fleet.Beat
	reports chan report
	results chan delivered

	mu        sync.Mutex
	broker    *natsserver.Server
	claims    *jwt.AccountClaims
	token     string
	clock     time.Duration // added to the hub's
	lasts     time.Duration // of a permission
	addresses []string      // of the broker, in place of the true one
	down      bool          // no request over HTTPS is answered
	refuse    bool          // to renew
	silent    chan struct{} // requests over HTTPS wait until it is closed
	requests  map[string]int
	welcome   func(fleet.Hello) *fleet.Welcome
	receipt   func(delivered) *fleet.Receipt // nil answers nothing
}

type report struct {
	result string
	fleet.TrialReport
}

type delivered struct {
	agent, result, sum string
	over               string // "nats" or "https"
	document           []byte
}

// decode is the document.
func (d delivered) decode(t *testing.T) (r measure.Result) {
	t.Helper()
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	b, err := z.DecodeAll(d.document, nil)
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func newTestHub(t *testing.T) *testHub {
	t.Helper()
	h := &testHub{
		t: t, token: "of the test", lasts: time.Hour, requests: map[string]int{},
		hellos: make(chan fleet.Hello, 100), beats: make(chan fleet.Beat, 10_000), reports: make(chan report, 1000), results: make(chan delivered, 1000),
	}
	h.welcome = func(fleet.Hello) *fleet.Welcome {
		return &fleet.Welcome{Version: fleet.Version, Program: "test", Hub: "H", UnixNs: time.Now().UnixNano(), BeatNs: int64(100 * time.Millisecond)}
	}
	h.receipt = func(d delivered) *fleet.Receipt { return &fleet.Receipt{Result: d.result, Kept: true} }
	h.https = httptest.NewUnstartedServer(http.HandlerFunc(h.serve))
	h.https.EnableHTTP2 = false
	h.https.Config.ErrorLog = discardLog
	h.https.StartTLS()
	t.Cleanup(h.https.Close)
	h.openBroker()
	return h
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// openBroker starts a broker with an account, and connects the hub to it.
func (h *testHub) openBroker() {
	operator, system := must(nkeys.CreateOperator()), must(nkeys.CreateAccount())
	h.account = must(nkeys.CreateAccount())
	oc := jwt.NewOperatorClaims(must(operator.PublicKey()))
	oc.SystemAccount = must(system.PublicKey())
	h.claims = jwt.NewAccountClaims(must(h.account.PublicKey()))
	resolver := &natsserver.MemAccResolver{}
	_ = resolver.Store(h.claims.Subject, must(h.claims.Encode(operator)))
	sc := jwt.NewAccountClaims(oc.SystemAccount)
	_ = resolver.Store(sc.Subject, must(sc.Encode(operator)))
	must(oc.Encode(operator))
	certificate := h.https.TLS.Certificates
	h.options = &natsserver.Options{
		Host: "127.0.0.1", Port: natsserver.RANDOM_PORT, NoSigs: true, NoLog: true, TrustedOperators: []*jwt.OperatorClaims{oc},
		AccountResolver: resolver, SystemAccount: oc.SystemAccount,
		TLSConfig: &tls.Config{Certificates: certificate, MinVersion: tls.VersionTLS13}, TLSTimeout: 5,
		Websocket: natsserver.WebsocketOpts{Host: "127.0.0.1", Port: natsserver.RANDOM_PORT, TLSConfig: &tls.Config{Certificates: certificate, MinVersion: tls.VersionTLS13}},
	}
	h.startBroker()
	user := must(nkeys.CreateUser())
	permission := h.permission(must(user.PublicKey()), func(*jwt.UserClaims) {})
	h.own = nats.UserJWT(func() (string, error) { return permission, nil }, user.Sign)
	nc, err := nats.Connect(h.address(), h.own, nats.Secure(fleet.PinOf(h.https.Certificate().Raw).Client()), nats.MaxReconnects(-1),
		nats.ReconnectWait(20*time.Millisecond), nats.ReconnectJitter(0, 0), nats.IgnoreAuthErrorAbort(), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		h.t.Fatal(err)
	}
	h.nc = nc
	h.t.Cleanup(nc.Close)
	for subject, handle := range map[string]nats.MsgHandler{
		fleet.AllUp(fleet.UpHello): h.hello, fleet.AllUp(fleet.UpBeat): h.beat, fleet.AllUp(fleet.UpTrial, "*"): h.report, fleet.AllUp(fleet.UpResult): h.result,
	} {
		if _, err := nc.Subscribe(subject, handle); err != nil {
			h.t.Fatal(err)
		}
	}
	_ = nc.Flush()
}

func (h *testHub) startBroker() {
	options := *h.options
	broker, err := natsserver.NewServer(&options)
	if err != nil {
		h.t.Fatal(err)
	}
	broker.Start()
	if !broker.ReadyForConnections(patience) {
		h.t.Fatal("the broker does not start")
	}
	if h.options.Port == natsserver.RANDOM_PORT { // the same after a restart
		h.options.Port = broker.Addr().(*net.TCPAddr).Port
	}
	h.mu.Lock()
	h.broker = broker
	h.mu.Unlock()
	h.t.Cleanup(func() { broker.Shutdown(); broker.WaitForShutdown() })
}

// stopBroker ends it as a failure would.
func (h *testHub) stopBroker() {
	h.mu.Lock()
	broker := h.broker
	h.mu.Unlock()
	broker.Shutdown()
	broker.WaitForShutdown()
}

func (h *testHub) address() string { return fmt.Sprintf("tls://127.0.0.1:%d", h.options.Port) }

// permission is a JWT of the account.
func (h *testHub) permission(user string, limit func(*jwt.UserClaims)) string {
	c := jwt.NewUserClaims(user)
	limit(c)
	return must(c.Encode(h.account))
}

// serve is the HTTPS server.
func (h *testHub) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == fleet.PathNATS {
		h.mu.Lock()
		port := h.broker.WebsocketURL()
		h.mu.Unlock()
		to := must(url.Parse(strings.Replace(port, "wss://", "https://", 1)))
		proxy := httputil.NewSingleHostReverseProxy(to)
		proxy.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true} //nolint:gosec // of this test
		proxy.ErrorLog = discardLog
		r.URL.Path = "/"
		proxy.ServeHTTP(w, r)
		return
	}
	h.mu.Lock()
	silent := h.silent
	h.mu.Unlock()
	if silent != nil {
		<-silent
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requests[r.URL.Path]++
	if h.down {
		panic(http.ErrAbortHandler)
	}
	body, _ := io.ReadAll(r.Body)
	answer := func(v any) { _ = json.NewEncoder(w).Encode(v) }
	refuse := func(code string) {
		w.WriteHeader(http.StatusForbidden)
		answer(fleet.Joined{Error: &measure.Error{Kind: measure.KindRefused, Code: code, Message: "no: " + code}})
	}
	switch r.URL.Path {
	case fleet.PathNonce:
		answer(fleet.Nonce{Nonce: "n", UnixNs: time.Now().Add(h.clock).UnixNano()})
	case fleet.PathJoin:
		var j fleet.Join
		_ = json.Unmarshal(body, &j)
		switch {
		case j.Token != h.token:
			refuse("test.token")
		case !signed(j.Agent, j.Nonce, j.Signature):
			refuse("test.signature")
		default:
			answer(h.joined(j.Agent))
		}
	case fleet.PathRenew:
		var j fleet.Renew
		_ = json.Unmarshal(body, &j)
		if h.refuse || !signed(j.Agent, j.Nonce, j.Signature) {
			refuse("test.revoked")
			return
		}
		answer(h.joined(j.Agent))
	case fleet.PathResults:
		agent := r.Header.Get(fleet.HeaderAgent)
		if !signed(agent, r.Header.Get(fleet.HeaderNonce), r.Header.Get(fleet.HeaderSignature)) {
			refuse("test.signature")
			return
		}
		d := delivered{agent, r.Header.Get(fleet.HeaderResult), r.Header.Get(fleet.HeaderSHA256), "https", body}
		answer(h.take(d))
	}
}

func signed(agent, nonce, signature string) bool {
	key, err := nkeys.FromPublicKey(agent)
	raw, decodeErr := base64.RawURLEncoding.DecodeString(signature)
	return err == nil && decodeErr == nil && key.Verify(fleet.ToSign(nonce), raw) == nil
}

// joined admits an agent; the lock is held.
func (h *testHub) joined(agent string) fleet.Joined {
	addresses := h.addresses
	if addresses == nil {
		addresses = []string{h.address()}
	}
	return fleet.Joined{Hub: "H", NATS: addresses, Labels: map[string]string{"site": "test"}, JWT: h.permission(agent, func(c *jwt.UserClaims) {
		c.Expires = time.Now().Add(h.lasts).Unix()
		c.Pub.Allow = fleet.MayPublish(agent)
		c.Sub.Allow = fleet.MayHear(agent)
	})}
}

// edit changes how the hub behaves.
func (h *testHub) edit(f func(*testHub)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f(h)
}

func (h *testHub) asked(path string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.requests[path]
}

func (h *testHub) hello(m *nats.Msg) {
	hello, err := fleet.Decode[fleet.Hello](m.Data, fleet.MaxState)
	if err != nil {
		h.t.Error(err)
	}
	h.mu.Lock()
	w := h.welcome(hello)
	h.mu.Unlock()
	if w != nil {
		_ = m.Respond(must(json.Marshal(w)))
	}
	h.hellos <- hello
}

func (h *testHub) beat(m *nats.Msg) {
	b, err := fleet.Decode[fleet.Beat](m.Data, fleet.MaxState)
	if err != nil {
		h.t.Error(err)
	}
	h.beats <- b
}

func (h *testHub) report(m *nats.Msg) {
	r, err := fleet.Decode[fleet.TrialReport](m.Data, fleet.MaxState)
	if err != nil {
		h.t.Error(err)
	}
	h.reports <- report{m.Subject[strings.LastIndexByte(m.Subject, '.')+1:], r}
}

func (h *testHub) result(m *nats.Msg) {
	agent, _, _ := fleet.Sender(m.Subject)
	h.mu.Lock()
	r := h.take(delivered{agent, m.Header.Get(fleet.HeaderResult), m.Header.Get(fleet.HeaderSHA256), "nats", m.Data})
	h.mu.Unlock()
	if r != nil {
		_ = m.Respond(must(json.Marshal(r)))
	}
}

// take takes a document; the lock is held.
func (h *testHub) take(d delivered) *fleet.Receipt {
	sum := sha256.Sum256(d.document)
	if hex.EncodeToString(sum[:]) != d.sum {
		h.t.Errorf("the checksum of %s is wrong", d.result)
	}
	h.results <- d
	return h.receipt(d)
}

// order sends a request to an agent and decodes its answer.
func order[T any](h *testHub, agent, what string, v any) T {
	h.t.Helper()
	b, is := v.([]byte)
	if !is {
		b = must(json.Marshal(v))
	}
	subject := fleet.Up(agent, fleet.UpAnswer, nats.NewInbox()[len("_INBOX."):])
	sub, err := h.nc.SubscribeSync(subject)
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := h.nc.PublishRequest(fleet.Down(agent, what), subject, b); err != nil {
		h.t.Fatal(err)
	}
	m, err := sub.NextMsg(patience)
	if err != nil {
		h.t.Fatalf("%s: %v", what, err)
	}
	answer, err := fleet.Decode[T](m.Data, fleet.MaxState)
	if err != nil {
		h.t.Fatal(err)
	}
	return answer
}

// await is the next value of a channel that is wanted.
func await[T any](t *testing.T, what string, from <-chan T, wanted func(T) bool) T {
	t.Helper()
	limit := time.After(patience)
	for {
		select {
		case v := <-from:
			if wanted == nil || wanted(v) {
				return v
			}
		case <-limit:
			t.Fatalf("waited for %s", what)
		}
	}
}

// running is an agent that a test runs.
type running struct {
	t     *testing.T
	stop  context.CancelCauseFunc
	ended chan error
	lines chan string
}

// config is the configuration of an agent of the hub.
func (h *testHub) config(folder string) Config {
	return Config{
		Folder: folder, Hub: h.https.URL, Pin: fleet.PinOf(h.https.Certificate().Raw), Token: "of the test", Name: "tester", Version: "test",
		Command: childCommand, Catalogue: english,
		times: times{answer: time.Second, retry: 20 * time.Millisecond, retryMost: 200 * time.Millisecond, endResults: 200 * time.Millisecond},
	}
}

// run runs an agent until the test ends, or end is called.
func run(t *testing.T, c Config) *running {
	t.Helper()
	ctx, stop := context.WithCancelCause(context.Background())
	r := &running{t: t, stop: stop, ended: make(chan error, 1), lines: make(chan string, 1000)}
	c.Say = func(sentence string) { r.lines <- sentence }
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.ended <- Run(ctx, c)
	}()
	t.Cleanup(func() { stop(nil); <-done })
	return r
}

// end ends the agent as a signal does.
func (r *running) end() {
	r.t.Helper()
	r.stop(measure.Fail(measure.KindInterrupted, "daemon.ending", nil))
	if err := r.result(); err != nil {
		r.t.Errorf("it ended with %v", err)
	}
}

// result is what Run returns.
func (r *running) result() error {
	r.t.Helper()
	return await(r.t, "the end of the agent", r.ended, nil)
}

// refusedAs checks that the agent ends with a refusal.
func (r *running) refusedAs(code string) {
	r.t.Helper()
	err := r.result()
	if e := measure.AsError(err, measure.KindInternal); err == nil || e.Kind != measure.KindRefused || e.Code != code {
		r.t.Errorf("it ended with %v, not %s", err, code)
	}
}

// identity is the public half of the key in a folder.
func identity(t *testing.T, folder string) string {
	t.Helper()
	seed, err := os.ReadFile(folder + "/key")
	if err != nil {
		t.Fatal(err)
	}
	return must(must(nkeys.FromSeed(seed)).PublicKey())
}

package hub_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"soku/internal/agent"
	"soku/internal/fleet"
	"soku/internal/hub"
	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/store/memory"
	_ "soku/internal/tests" // the options of documents
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/nats-io/nats-server/v2/server.init.0.func1"),
		goleak.IgnoreAnyFunction("github.com/nats-io/nats-server/v2/server.(*Server).startGoRoutine.func1"))
}

// silence is short, so that tests see agents go.
const silence = 300 * time.Millisecond

// broker is a real broker without admission.
type broker struct {
	*server.Server
	t *testing.T
}

func newBroker(t *testing.T) *broker {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoSigs: true, NoLog: true, MaxPayload: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the broker does not start")
	}
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return &broker{s, t}
}

func (b *broker) connect() *nats.Conn {
	b.t.Helper()
	c, err := nats.Connect(b.ClientURL(), nats.Timeout(10*time.Second))
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		closed := make(chan struct{})
		c.SetClosedHandler(func(*nats.Conn) { close(closed) })
		c.Close()
		<-closed
	})
	return c
}

// hub starts a hub. edit may change how.
func (b *broker) hub(edit func(*hub.Config)) *hub.Hub {
	b.t.Helper()
	cfg := hub.Config{Conn: b.connect(), Store: memory.New(), Identity: "the hub", Silence: silence, Answers: 2 * time.Second, Log: slog.New(slog.NewTextHandler(testLog{b.t}, nil))}
	if edit != nil {
		edit(&cfg)
	}
	h, err := hub.New(cfg)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(h.Close)
	return h
}

type testLog struct{ t *testing.T }

func (l testLog) Write(b []byte) (int, error) {
	l.t.Log(strings.TrimSpace(string(b)))
	return len(b), nil
}

// host is a simulated agent: it speaks the protocol and measures nothing.
type host struct {
	t        *testing.T
	conn     *nats.Conn
	id       string
	instance string
	name     string
	left     chan *measure.Error // why it was told to leave
	ahead    time.Duration       // of its clock

	addresses []fleet.Address
	policy    fleet.Policy

	// trial runs a trial that was ordered, in a goroutine of its own; nil: it refuses orders.
	trial func(o *running)
	full  int // orders that it refuses first, because its disk is full
	serve func(fleet.Serve) fleet.Served
	// command answers the order of a command.
	command func(fleet.Command) fleet.Commanded
	// hears reports whether an order to start reaches it; nil: it does.
	hears func(fleet.Start) bool

	mu       sync.Mutex
	trials   map[string]*running
	orders   int
	number   int64
	spooled  []string
	document string // SHA-256 of the document that is spooled
	work     sync.WaitGroup
	stop     chan struct{}
}

// running is a trial on a host.
type running struct {
	host  *host
	spec  agent.Spec
	start chan struct{}       // closed by the order to start
	at    int64               // the instant of that, on the clock of the host; valid once start is closed
	ended chan *measure.Error // has the reason of an order to stop
}

func identity(n int) string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	b := []byte("U" + strings.Repeat("A", 55))
	for i := 4; i > 0; i-- {
		b[i], n = digits[n%32], n/32
	}
	return string(b)
}

// host connects an agent. It beats until it is closed.
func (b *broker) host(n int, edit func(*host)) *host {
	b.t.Helper()
	h := &host{t: b.t, conn: b.connect(), id: identity(n), instance: "first", name: "host", left: make(chan *measure.Error, 100), trials: map[string]*running{}, stop: make(chan struct{})}
	if edit != nil {
		edit(h)
	}
	if _, err := h.conn.Subscribe("soku.v1.down."+h.id+".>", h.obey); err != nil {
		b.t.Fatal(err)
	}
	if err := h.conn.Flush(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(h.close)
	h.hello()
	h.work.Go(func() {
		tick := time.NewTicker(silence / 6)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				h.publish(fleet.UpBeat, h.beat())
			case <-h.stop:
				return
			}
		}
	})
	return h
}

// close makes the host silent.
func (h *host) close() {
	h.mu.Lock()
	select {
	case <-h.stop:
	default:
		close(h.stop)
	}
	for _, r := range h.trials {
		r.end(nil)
	}
	h.mu.Unlock()
	h.work.Wait()
}

func (r *running) end(why *measure.Error) {
	select {
	case r.ended <- why:
	default:
	}
}

func (h *host) hello() fleet.Welcome {
	h.t.Helper()
	hello := fleet.Hello{Version: fleet.Version, Instance: h.instance, Name: h.name, Platform: "linux/amd64", UnixNs: time.Now().Add(h.ahead).UnixNano(), Running: h.beat().Running, Spooled: h.spooled, Addresses: h.addresses, Policy: h.policy}
	return request[fleet.Welcome](h, fleet.UpHello, encoded(hello), nil)
}

func encoded(v any) []byte { b, _ := json.Marshal(v); return b }

// request sends a request to the hub and returns the answer.
func request[T any](h *host, what string, body []byte, header nats.Header) (answer T) {
	h.t.Helper()
	inbox := fleet.Down(h.id, fleet.DownAnswer, nats.NewInbox()[len("_INBOX."):])
	s, err := h.conn.SubscribeSync(inbox)
	if err != nil {
		h.t.Error(err)
		return
	}
	defer s.Unsubscribe()
	_ = h.conn.PublishMsg(&nats.Msg{Subject: fleet.Up(h.id, what), Reply: inbox, Data: body, Header: header})
	m, err := s.NextMsg(10 * time.Second)
	if err != nil {
		h.t.Errorf("%s: %v", what, err)
		return
	}
	if err := json.Unmarshal(m.Data, &answer); err != nil {
		h.t.Errorf("%s: %q: %v", what, m.Data, err)
	}
	return answer
}

func (h *host) beat() fleet.Beat {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.number++
	b := fleet.Beat{Instance: h.instance, Number: h.number, UnixNs: time.Now().Add(h.ahead).UnixNano(), Spooled: len(h.spooled)}
	for id := range h.trials {
		b.Running = append(b.Running, id)
	}
	return b
}

func (h *host) publish(what string, message any, rest ...string) {
	_ = h.conn.Publish(fleet.Up(h.id, what, rest...), encoded(message))
}

func (r *running) report(message fleet.TrialReport) {
	r.host.publish(fleet.UpTrial, message, r.spec.Result)
}

// deliver sends a document, and returns the receipt.
func (h *host) deliver(r *measure.Result) fleet.Receipt {
	h.t.Helper()
	return h.deliverBytes(r.ID, pack(encoded(r)))
}

func (h *host) deliverBytes(id string, document []byte) fleet.Receipt {
	h.t.Helper()
	return request[fleet.Receipt](h, fleet.UpResult, document, nats.Header{fleet.HeaderResult: {id}, fleet.HeaderSHA256: {sum(document)}})
}

func sum(document []byte) string {
	s := sha256.Sum256(document)
	return hex.EncodeToString(s[:])
}

var packer, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))

func pack(document []byte) []byte { return packer.EncodeAll(document, nil) }

// obey answers an order of the hub.
func (h *host) obey(m *nats.Msg) {
	if strings.HasPrefix(m.Subject, fleet.Down(h.id, fleet.DownAnswer)) {
		return
	}
	var answer any = fleet.Answer{}
	switch m.Subject {
	case fleet.Down(h.id, fleet.DownAsk):
		answer = h.beat()
	case fleet.Down(h.id, fleet.DownLeave):
		var l fleet.Leave
		_ = json.Unmarshal(m.Data, &l)
		select {
		case h.left <- l.Error:
		default:
		}
	case fleet.Down(h.id, fleet.DownServe):
		var s fleet.Serve
		_ = json.Unmarshal(m.Data, &s)
		answer = h.serve(s)
	case fleet.Down(h.id, fleet.DownCommand):
		var c fleet.Command
		_ = json.Unmarshal(m.Data, &c)
		answer = h.command(c)
	case fleet.Down(h.id, fleet.DownTrial):
		var o fleet.TrialOrder
		_ = json.Unmarshal(m.Data, &o)
		h.mu.Lock()
		if o.Again != "" && o.Again == h.document {
			h.spooled, h.document = nil, ""
		}
		h.mu.Unlock()
		answer = h.order(o.Spec)
	case fleet.Down(h.id, fleet.DownStart):
		var s fleet.Start
		_ = json.Unmarshal(m.Data, &s)
		if h.hears != nil && !h.hears(s) {
			return
		}
		h.mu.Lock()
		if r := h.trials[s.Result]; r != nil {
			r.at = s.AtUnixNs
			close(r.start)
		}
		h.mu.Unlock()
	case fleet.Down(h.id, fleet.DownStop):
		var s fleet.Stop
		_ = json.Unmarshal(m.Data, &s)
		h.mu.Lock()
		if r := h.trials[s.Result]; r != nil {
			r.end(s.Error)
		}
		h.mu.Unlock()
	}
	_ = m.Respond(encoded(answer))
}

func (h *host) orderCount() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.orders
}

func (h *host) order(s agent.Spec) fleet.Answer {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.orders++
	if h.trial == nil {
		return fleet.Answer{Error: measure.TextError(measure.KindRefused, "the policy of this host refuses it", "")}
	}
	if h.orders <= h.full {
		return fleet.Answer{Error: measure.Fail(measure.KindRefused, "daemon.spool.disk", measure.Figures{"folder": "spool", "free": int64(0)})}
	}
	if h.trials[s.Result] != nil || slices.Contains(h.spooled, s.Result) {
		return fleet.Answer{}
	}
	r := &running{host: h, spec: s, start: make(chan struct{}), ended: make(chan *measure.Error, 1)}
	h.trials[s.Result] = r
	h.work.Go(func() {
		h.trial(r)
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.trials, s.Result)
	})
	return fleet.Answer{}
}

// toldToLeave waits until the host is told to leave, and returns why.
func (h *host) toldToLeave() *measure.Error {
	h.t.Helper()
	return receive(h.t, h.left)
}

func receive[T any](t *testing.T, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(10 * time.Second):
		t.Fatal("nothing within 10 s")
	}
	return v
}

// result is the document of a trial as its host measured it.
func (r *running) result() *measure.Result { return document(r.spec) }

func document(s agent.Spec) *measure.Result {
	d := s.NotRun(time.Unix(1_700_000_000, 0), nil)
	d.Error, d.Summary.GoodputBps = nil, 1e9
	return d
}

// spec is a trial without an identity.
func spec() agent.Spec {
	return agent.Spec{
		Test: measure.TestTCP, Options: measure.Options{Duration: measure.Duration(time.Second)}, Host: "10.0.0.2",
		Client: measure.Endpoint{Name: "a"}, Server: measure.Endpoint{Name: "b"},
		Trial: measure.Trial{Campaign: "c", Pattern: "p", Label: "tcp", Round: 1, Repeat: 1, Order: 1},
	}
}

// until waits for a condition, which an event of the hub brings about.
func until(t *testing.T, what string, w *hub.Watcher, is func() bool) {
	t.Helper()
	late := time.After(10 * time.Second)
	for !is() {
		select {
		case <-w.C:
		case <-late:
			t.Fatalf("not within 10 s: %s", what)
		}
	}
}

func stored(t *testing.T, s store.Store, id string) *measure.Result {
	t.Helper()
	r, err := s.Get(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

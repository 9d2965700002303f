package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"soku/internal/fleet"
	"soku/internal/measure"
	"soku/internal/panics"
	"soku/internal/store"
)

// Config is what a hub needs. Its callbacks must return soon and may be called by several goroutines.
type Config struct {
	Conn     *nats.Conn // may publish below soku.v1.down and hear soku.v1.up
	Store    store.Store
	Sink     Sink   // keeps documents; nil: Store, without a place for conflicts
	Identity string // of the hub, as agents see it
	Version  string // of this program

	// Labels are those that an agent was admitted with; nil: none.
	Labels func(agent string) map[string]string
	// Admitted returns why an agent is not wanted, such as that it was revoked: an error of kind refused or not_found. After
	// another error, as of a store that is busy, the agent says hello again. nil: all are wanted.
	Admitted func(agent string) *measure.Error
	// Expected reports whether a result was ordered from an agent before this hub started, by the
	// journals of its campaigns; nil: none was.
	Expected func(agent, result string) bool
	// Claimed reports whether a campaign is about to take over a trial of an agent that was ordered before this hub started: its
	// document is left there until then. nil: none is.
	Claimed func(agent, result string) bool
	// Serves reports whether no other hub can serve in the place of this one now. While it does not, this one answers no agent and orders
	// nothing. nil: there is no other.
	Serves func() bool
	Log    *slog.Logger // nil: nothing is logged

	Silence time.Duration // after which an agent is away; 0: [fleet.Silence]
	Answers time.Duration // how long an answer is waited for; 0: [fleet.Answers]
}

// Hub is the hub's side of the protocol. Its methods may be called by several goroutines.
type Hub struct {
	Agents *Registry
	Hosts  *Reservations

	cfg      Config
	requests requests
	orders   orders
	intake   intake

	ctx   context.Context // ends with Close
	stop  context.CancelFunc
	heard *nats.Subscription

	abandoned atomic.Bool // another hub serves
	work      sync.WaitGroup
}

// New starts a hub. The caller closes it, and the connection after that. An error has kind unreachable.
func New(cfg Config) (*Hub, error) {
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	cfg.Silence, cfg.Answers = cmp.Or(cfg.Silence, fleet.Silence), cmp.Or(cfg.Answers, fleet.Answers)
	if cfg.Sink == nil {
		cfg.Sink = InStore{Store: cfg.Store}
	}
	h := &Hub{cfg: cfg, Hosts: NewReservations()}
	h.ctx, h.stop = context.WithCancel(context.Background())
	h.Agents = newRegistry(h)
	h.orders.all, h.orders.news = map[string]*order{}, map[string]chan struct{}{}
	h.requests.pending = map[string]*pending{}
	h.intake.begin()
	if err := h.subscribe(); err != nil {
		h.Close()
		return nil, measure.Fail(measure.KindUnreachable, "hub.subscribe", measure.Figures{"cause": err})
	}
	if err := cfg.Conn.Flush(); err != nil {
		h.Close()
		return nil, measure.Fail(measure.KindUnreachable, "hub.subscribe", measure.Figures{"cause": err})
	}
	h.goSafely(h.commit)
	h.goSafely(h.Agents.watch)
	return h, nil
}

// maxPendingBytes is how much waits to be handled. What exceeds it is dropped: agents send again what was not answered.
const maxPendingBytes = 256 << 20

// subscribe hears all agents in one subscription, which keeps their messages in order: what a trial reported before
// its document is known before that. So nothing in it may wait.
func (h *Hub) subscribe() (err error) {
	h.heard, err = h.cfg.Conn.Subscribe(fleet.AllUp(">"), func(m *nats.Msg) {
		agent, what, ok := fleet.Sender(m.Subject)
		if handle := handlers[what]; ok && handle != nil {
			h.safely(func() { handle(h, agent, m) })
		}
	})
	if err != nil {
		return err
	}
	return h.heard.SetPendingLimits(-1, maxPendingBytes)
}

var handlers = map[string]func(h *Hub, agent string, m *nats.Msg){
	fleet.UpHello: (*Hub).hello, fleet.UpBeat: (*Hub).beat, fleet.UpTrial: (*Hub).report, fleet.UpAnswer: (*Hub).answer, fleet.UpResult: (*Hub).delivery,
}

// Close ends the hub and waits for its goroutines. Trials that run on agents go on there.
func (h *Hub) Close() {
	if h.heard != nil {
		_ = h.heard.Unsubscribe() // the connection may have ended
	}
	h.stop()
	h.work.Wait()
}

// Abandon makes the hub silent, because another one serves in its place: trials that it has ordered are no longer its own, so
// it stops none, and answers no agent.
func (h *Hub) Abandon() { h.abandoned.Store(true) }

// serves reports whether agents are to hear of this hub: see [Config.Serves].
func (h *Hub) serves() bool {
	return !h.abandoned.Load() && (h.cfg.Serves == nil || h.cfg.Serves())
}

// safely runs f and logs its panic.
func (h *Hub) safely(f func()) {
	if e := panics.Catch(f); e != nil {
		h.cfg.Log.Error("a defect in the hub", "panic", e.Error())
	}
}

func (h *Hub) goSafely(f func()) { h.work.Go(func() { h.safely(f) }) }

// reply answers a request of an agent. A reply subject that is not of that agent is ignored: it would
// have the hub give orders to another one.
func (h *Hub) reply(agent string, m *nats.Msg, answer any) {
	if !h.serves() || !fleet.MayReply(agent, m.Reply) {
		return
	}
	b, err := json.Marshal(answer)
	if err == nil {
		err = h.cfg.Conn.Publish(m.Reply, b)
	}
	if err != nil {
		h.cfg.Log.Warn("an answer to an agent was not sent", "agent", agent, "cause", err)
	}
}

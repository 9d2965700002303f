package scale_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"soku/internal/fleet"
	"soku/internal/measure"
)

// agent is a simulated agent.
type agent struct {
	id       string
	key      nkeys.KeyPair
	name     string
	jwt      string
	conn     *nats.Conn
	number   atomic.Int64
	once     sync.Once     // for cut
	back     chan<- *agent // gets it after each connection that followed another
	cut      chan struct{} // closed when it was cut off for the first time
	everyone chan<- *agent // gets it with each message to all agents
}

func hostName(i int) string { return fmt.Sprintf("host-%d", i) }

func newAgent(i int) (*agent, error) {
	key, err := nkeys.CreateUser()
	if err != nil {
		return nil, err
	}
	id, err := key.PublicKey()
	return &agent{id: id, key: key, name: hostName(i), cut: make(chan struct{})}, err
}

// join gets the JWT.
func (a *agent) join(h *hub, token string) error {
	var nonce fleet.Nonce
	if err := h.post(fleet.PathNonce, "", nil, &nonce); err != nil {
		return err
	}
	signature, err := a.key.Sign(fleet.ToSign(nonce.Nonce))
	if err != nil {
		return err
	}
	var joined fleet.Joined
	err = h.post(fleet.PathJoin, "", fleet.Join{Token: token, Agent: a.id, Nonce: nonce.Nonce, Signature: base64.RawURLEncoding.EncodeToString(signature),
		Name: a.name, Platform: "linux/amd64", Program: "test", Version: fleet.Version}, &joined)
	a.jwt = joined.JWT
	return err
}

// connect opens the connection, which is opened again when it is lost, and answers what the hub asks.
func (a *agent) connect(h *hub) (err error) {
	a.conn, err = nats.Connect(h.broker(), nats.Secure(h.tls), nats.Timeout(30*time.Second),
		nats.UserJWT(func() (string, error) { return a.jwt, nil }, a.key.Sign), nats.CustomInboxPrefix(fleet.Down(a.id, fleet.DownAnswer)),
		nats.MaxReconnects(-1), nats.ReconnectWait(time.Second), nats.ReconnectJitter(2*time.Second, 2*time.Second),
		nats.ReconnectHandler(func(*nats.Conn) { a.back <- a }), nats.DisconnectErrHandler(func(*nats.Conn, error) { a.once.Do(func() { close(a.cut) }) }),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		return err
	}
	_, askErr := a.conn.Subscribe(fleet.Down(a.id, fleet.DownAsk), func(m *nats.Msg) {
		b, _ := json.Marshal(a.beat())
		_ = m.Respond(b)
	})
	_, allErr := a.conn.Subscribe(fleet.Everyone+".>", func(*nats.Msg) {
		select {
		case a.everyone <- a:
		default: // more than are counted
		}
	})
	return errors.Join(askErr, allErr)
}

// hello greets the hub until it answers.
func (a *agent) hello() error {
	b, err := json.Marshal(fleet.Hello{
		Version: fleet.Version, Program: "test", Instance: "instance of " + a.id, Name: a.name, Platform: "linux/amd64", UnixNs: time.Now().UnixNano(),
		Addresses: []fleet.Address{{Name: "eth0", Address: "192.0.2.1"}},
	})
	if err != nil {
		return err
	}
	for end := time.Now().Add(time.Minute); ; {
		m, err := a.conn.Request(fleet.Up(a.id, fleet.UpHello), b, fleet.Answers)
		if err == nil {
			w, err := fleet.Decode[fleet.Welcome](m.Data, fleet.MaxState)
			if err == nil && w.Error != nil {
				err = w.Error
			}
			return err
		}
		if time.Now().After(end) {
			return err
		}
	}
}

func (a *agent) beat() fleet.Beat {
	return fleet.Beat{Instance: "instance of " + a.id, Number: a.number.Add(1), UnixNs: time.Now().UnixNano()}
}

// work sends beats as the protocol has them and every second a sample, as of a trial that runs, until stop.
func (a *agent) work(stop <-chan struct{}) {
	sample, _ := json.Marshal(fleet.TrialReport{Progress: &measure.Progress{}})
	beat, progress := time.NewTicker(fleet.BeatEvery), time.NewTicker(time.Second)
	defer beat.Stop()
	defer progress.Stop()
	for {
		select {
		case <-beat.C:
			b, _ := json.Marshal(a.beat())
			_ = a.conn.Publish(fleet.Up(a.id, fleet.UpBeat), b)
		case <-progress.C:
			_ = a.conn.Publish(fleet.Up(a.id, fleet.UpTrial, "20260101T000000-"+a.id[:12]), sample)
		case <-stop:
			return
		}
	}
}

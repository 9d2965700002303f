package broker_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"soku/internal/fleet"
	"soku/internal/fleet/enrol"
	"soku/test/tier"
)

// A thousand agents join over HTTPS by tokens, connect with TLS and say hello, are cut off by a new start of the broker, and come back.
func TestAThousandAgentsJoin(t *testing.T) {
	tier.WatchesTheClock(t)
	const agents, atOnce = 1000, 50
	s, folder := newSite(t), t.TempDir()
	b := s.run(t, folder, "127.0.0.1:0")
	web := httptest.NewUnstartedServer(s.Handler())
	web.StartTLS()
	defer web.Close()
	client := web.Client()
	client.Transport.(*http.Transport).MaxIdleConnsPerHost = atOnce

	var welcomed atomic.Int64
	hub := s.hub(t)
	welcome := func(m *nats.Msg) {
		if sender, _, ok := fleet.Sender(m.Subject); ok && fleet.MayReply(sender, m.Reply) {
			welcomed.Add(1)
			_ = m.Respond([]byte("{}"))
		}
	}
	if _, err := hub.Subscribe(fleet.AllUp(fleet.UpHello), welcome); err != nil {
		t.Fatal(err)
	}
	var tokens []string
	for range agents / enrol.MaxTokenUses {
		secret, _, err := s.MakeToken(t.Context(), enrol.TokenOrder{Uses: enrol.MaxTokenUses}, "test")
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, secret)
	}
	all := make([]agent, agents)
	for i := range all {
		all[i] = newKey(t)
	}
	begin := time.Now()
	lap := func(what string) {
		t.Logf("%-40s %v", what, time.Since(begin).Round(time.Millisecond))
		begin = time.Now()
	}
	each(t, agents, atOnce, func(i int) (err error) {
		all[i].jwt, err = joinOver(client, web.URL, tokens[i%len(tokens)], all[i])
		return err
	})
	lap("joined over HTTPS")
	connections, back := make([]*member, agents), make(chan struct{}, agents)
	var lock sync.Mutex // of the test's list of what it closes
	each(t, agents, atOnce, func(i int) error {
		m, err := s.dialBack(all[i], func() { back <- struct{}{} })
		if err == nil {
			lock.Lock()
			defer lock.Unlock()
			connections[i] = m
			t.Cleanup(m.Close)
		}
		return err
	})
	lap("connected with TLS and JWT")
	hello := func(i int) error {
		_, err := answered(func() (*nats.Msg, error) {
			return connections[i].Request(fleet.Up(all[i].id, fleet.UpHello), []byte("{}"), waits)
		})
		return err
	}
	each(t, agents, atOnce, hello)
	lap("said hello")
	if n := b.Connections(); n != agents+1 || welcomed.Load() != agents {
		t.Errorf("%d connections, %d welcomed", n, welcomed.Load())
	}
	address := b.Address()
	b.Close()
	begin = time.Now()
	s.run(t, folder, address)
	if _, err := s.hub(t).Subscribe(fleet.AllUp(fleet.UpHello), welcome); err != nil {
		t.Fatal(err)
	}
	for range agents {
		select {
		case <-back:
		case <-time.After(time.Minute):
			t.Fatal("an agent does not come back")
		}
	}
	lap("came back to a broker that started again")
	each(t, agents, atOnce, hello)
	lap("said hello again")
}

// dialBack is a connection of an agent that connects again.
func (s *site) dialBack(a agent, back func()) (*member, error) {
	c, err := nats.Connect(s.url(0), a.proves(), s.tls(), nats.Timeout(30*time.Second), nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond), nats.ReconnectJitter(time.Second, time.Second),
		nats.IgnoreAuthErrorAbort(), nats.CustomInboxPrefix(fleet.Down(a.id, fleet.DownAnswer)), nats.ReconnectHandler(func(*nats.Conn) { back() }), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	return &member{Conn: c}, err
}

// each calls work with 0 to n-1, in a few goroutines.
func each(t *testing.T, n, goroutines int, work func(i int) error) {
	t.Helper()
	var next atomic.Int64
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if err := work(i); err != nil {
					t.Errorf("agent %d: %v", i, err)
					return
				}
			}
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// joinOver is how an agent gets its JWT.
func joinOver(client *http.Client, url, token string, a agent) (jwt string, err error) {
	var nonce fleet.Nonce
	if err := ask(client, url+fleet.PathNonce, nil, &nonce); err != nil {
		return "", err
	}
	signature, err := a.pair.Sign(fleet.ToSign(nonce.Nonce))
	if err != nil {
		return "", err
	}
	var joined fleet.Joined
	err = ask(client, url+fleet.PathJoin, fleet.Join{Token: token, Agent: a.id, Nonce: nonce.Nonce, Signature: base64.RawURLEncoding.EncodeToString(signature),
		Name: "host", Platform: "linux/amd64", Program: "test", Version: fleet.Version}, &joined)
	if err == nil && joined.Error != nil {
		err = joined.Error
	}
	return joined.JWT, err
}

func ask(client *http.Client, url string, message, answer any) error {
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	r, err := client.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", r.Status, text)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(text, answer)
}

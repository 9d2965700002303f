package broker_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"soku/internal/fleet"
	"soku/internal/fleet/enrol"
	"soku/test/tier"
)

// cutOff is how long it may take until a revoked agent is cut off.
const cutOff = 2 * time.Second

// refuses checks that a connection is refused everywhere.
func (s *site) refuses(t *testing.T, what string, who nats.Option) {
	t.Helper()
	for i := range s.urls {
		if m, err := s.dial(t, i, who); err == nil {
			t.Errorf("%s: taken at broker %d", what, i)
			m.Close()
		}
	}
}

func TestWhoWasNotAdmittedDoesNotConnect(t *testing.T) {
	eachSite(t, func(t *testing.T, s *site) {
		a, other := s.agent(t, time.Hour), newSite(t).agent(t, time.Hour)
		must(t)(s.dial(t, 0, a.proves())).Close()
		s.refuses(t, "no JWT", func(*nats.Options) error { return nil })
		s.refuses(t, "an agent of another authority", other.proves())
		thief := newKey(t)
		thief.jwt = a.jwt
		s.refuses(t, "the JWT of another agent", thief.proves())
		expired := a
		var err error
		if expired.jwt, err = s.Authority.AgentJWT(a.id, -time.Second); err != nil {
			t.Fatal(err)
		}
		s.refuses(t, "a JWT that has expired", expired.proves())

		account, err := nkeys.CreateAccount()
		if err != nil {
			t.Fatal(err)
		}
		forged := newKey(t)
		for what, issuer := range map[string]string{"an account of its own": "", "a key that the account does not have": s.Authority.Account()} {
			c := jwt.NewUserClaims(forged.id)
			c.IssuerAccount = issuer
			if forged.jwt, err = c.Encode(account); err != nil {
				t.Fatal(err)
			}
			s.refuses(t, what, forged.proves())
		}
		s.refuses(t, "a user and a password", nats.UserInfo("sys", "sys"))
	})
}

func TestAnAgentIsCutOffWhenItsJWTEndsAndComesBackWithANewOne(t *testing.T) {
	eachSite(t, func(t *testing.T, s *site) {
		tier.SpendsSeconds(t)
		a := s.agent(t, 2*time.Second)
		m := must(t)(s.dial(t, 1, a.proves()))
		select {
		case err := <-m.ended:
			t.Log(err) // the connection may end before the reason is read
		case <-time.After(waits):
			t.Fatal("it is not cut off")
		}
		for begin := time.Now(); ; { // a JWT is valid to the end of a second
			m, err := s.dial(t, 1, a.proves())
			if err != nil {
				break
			}
			m.Close()
			if time.Since(begin) > waits {
				t.Fatal("its JWT has ended, and it connects")
			}
		}

		// An agent that renews in time: the library asks for the JWT at each connection.
		renewing := s.agent(t, 2*time.Second)
		asked, back := make(chan struct{}, 100), make(chan struct{}, 100)
		who := nats.UserJWT(func() (string, error) {
			select {
			case asked <- struct{}{}:
			default:
			}
			return s.Authority.AgentJWT(renewing.id, 2*time.Second)
		}, renewing.pair.Sign)
		again := must(t)(s.dial(t, 0, who, nats.IgnoreAuthErrorAbort(), nats.ReconnectWait(time.Millisecond), nats.ReconnectHandler(func(*nats.Conn) { back <- struct{}{} }),
			func(o *nats.Options) error { o.AllowReconnect, o.MaxReconnect = true, -1; return nil }))
		select {
		case <-back:
		case <-time.After(waits):
			t.Fatal("it does not come back")
		}
		if err := again.Publish(fleet.Up(renewing.id, fleet.UpBeat), nil); err != nil || len(asked) < 2 || again.denied(t, fleet.Up(renewing.id, fleet.UpBeat)) {
			t.Error(err, len(asked))
		}
	})
}

func TestARevokedAgentIsCutOffEverywhere(t *testing.T) {
	eachSite(t, func(t *testing.T, s *site) {
		system, a, b, stays := s.system(t), s.agent(t, time.Hour), s.agent(t, time.Hour), s.agent(t, time.Hour)
		var cut []*member
		for i := range s.urls {
			cut = append(cut, must(t)(s.dial(t, i, a.proves())))
		}
		second, last := must(t)(s.dial(t, 1, b.proves())), must(t)(s.dial(t, 2, stays.proves()))
		begin := time.Now()
		// Two within a second: JWTs of accounts have times in seconds.
		for _, one := range []agent{a, b} {
			if err := s.Revoke(t.Context(), system.Conn, one.id, "test"); err != nil {
				t.Fatal(err)
			}
		}
		for _, m := range append(cut, second) {
			select {
			case <-m.ended:
			case <-time.After(waits):
				t.Fatal("it is not cut off")
			}
		}
		took := time.Since(begin)
		t.Logf("%d connections are cut off after %v", len(cut)+1, took)
		if took > cutOff {
			t.Errorf("it took %v", took)
		}
		for _, one := range []agent{a, b} {
			s.refuses(t, "a revoked agent", one.proves())
			var err error
			if one.jwt, err = s.Authority.AgentJWT(one.id, time.Hour); err != nil {
				t.Fatal(err)
			}
			s.refuses(t, "a revoked agent with a new JWT", one.proves())
		}
		if err := last.Publish(fleet.Up(stays.id, fleet.UpBeat), nil); err != nil || last.denied(t, fleet.Up(stays.id, fleet.UpBeat)) {
			t.Errorf("the others are cut off, too: %v", err)
		}
		if err := s.Push(t.Context(), system.Conn); err != nil {
			t.Errorf("again: %v", err)
		}
		hub := s.hub(t)
		soon, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond) // without an answer
		defer cancel()
		if err := s.Push(soon, hub.Conn); err == nil || hub.LastError() == nil {
			t.Error("a connection that is not of the system account changes accounts")
		}
	})
}

func TestAConnectionIsBounded(t *testing.T) {
	eachSite(t, func(t *testing.T, s *site) {
		a, hub := s.agent(t, time.Hour), s.hub(t)
		m := must(t)(s.dial(t, 1, a.proves()))
		for range enrol.MaxSubscriptions {
			if _, err := m.SubscribeSync(fleet.Down(a.id, ">")); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.FlushTimeout(waits); err != nil || m.LastError() != nil {
			t.Fatal(err, m.LastError())
		}
		if _, err := m.SubscribeSync(fleet.Down(a.id, ">")); err != nil {
			t.Fatal(err)
		}
		_ = m.FlushTimeout(waits)
		if err := m.LastError(); err == nil || !strings.Contains(strings.ToLower(err.Error()), "maximum subscriptions") {
			t.Errorf("one subscription more: %v", err)
		}

		atHub := make(chan *nats.Msg, 100)
		if _, err := hub.ChanSubscribe(fleet.AllUp(">"), atHub); err != nil {
			t.Fatal(err)
		}
		m = must(t)(s.dial(t, 1, a.proves()))
		known(t, m, fleet.Up(a.id, "x"), atHub)
		large := nats.NewMsg(fleet.Up(a.id, fleet.UpResult))
		large.Header.Set(fleet.HeaderResult, strings.Repeat("x", 4<<10))
		large.Data = make([]byte, fleet.MaxMessage)
		if err := m.PublishMsg(large); err != nil {
			t.Fatal(err)
		}
		if got := next(atHub); got == nil || len(got.Data) != fleet.MaxMessage {
			t.Fatal("the largest message does not arrive")
		}
		large.Data = make([]byte, enrol.MaxPayload)
		err := m.PublishMsg(large)
		if err == nil {
			err = m.FlushTimeout(waits)
		}
		if err == nil {
			t.Error("there is no bound of a message")
		}
	})
}

package broker_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"soku/internal/fleet/enrol"
)

// agent is a host that has joined.
type agent struct {
	id   string
	pair nkeys.KeyPair
	jwt  string
}

func newKey(t testing.TB) agent {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	id, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return agent{id: id, pair: pair}
}

// agent is one that has joined, with a JWT for a time.
func (s *site) agent(t testing.TB, lasts time.Duration) agent {
	t.Helper()
	a := newKey(t)
	secret, _, err := s.MakeToken(t.Context(), enrol.TokenOrder{}, "test")
	if err == nil {
		_, err = s.Registry.Join(t.Context(), secret, enrol.Joining{ID: a.id, Name: "host"})
	}
	if err == nil {
		a.jwt, err = s.Authority.AgentJWT(a.id, lasts)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// proves is what the agent shows to the broker.
func (a agent) proves() nats.Option {
	return nats.UserJWT(func() (string, error) { return a.jwt, nil }, a.pair.Sign)
}

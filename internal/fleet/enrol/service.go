package enrol

import (
	"context"
	"encoding/json"
	"net/http"
	"net/netip"
	"time"

	"github.com/nats-io/nats.go"

	"soku/internal/fleet"
	"soku/internal/limiter"
	"soku/internal/measure"
)

// Options are what a [Service] is made of.
type Options struct {
	Authority *Authority
	Registry  *Registry

	NATS         []string // addresses of the broker as agents reach it, as in tls://hub:7661
	Certificates string   // of hub and broker for agents to trust, PEM; empty: those of public authorities
	// Lasts is how long a JWT of an agent is valid; 0: [fleet.JWTLasts], which is also the most.
	Lasts time.Duration
	// Audit is called with what was asked for and how it went, from the goroutine that did it; nil: nothing is. It is
	// called by several goroutines at the same time.
	Audit func(Event)
}

// Action is what an [Event] is about.
type Action string

// Actions.
const (
	ActionJoin    Action = "join"
	ActionRenew   Action = "renew"
	ActionProve   Action = "prove" // of another request, such as one with a result
	ActionRevoke  Action = "revoke"
	ActionToken   Action = "token" // made
	ActionUntoken Action = "end_token"
)

// Event is one line of an audit. Texts of agents have no control characters.
type Event struct {
	At     time.Time
	Action Action
	By     string            // who asked for it: an address of the network, or who revoked
	Agent  string            // identity; of a failure, what was claimed to be one
	Name   string            // of the agent
	Token  string            // [Token].ID
	Labels map[string]string // of the agent or the token
	Error  *measure.Error    // nil: it was done
}

// Service admits agents. It is safe for concurrent use.
type Service struct {
	Options
	nonces  *nonces
	joins   *limiter.Limiter[netip.Prefix] // failures
	renews  *limiter.Limiter[netip.Prefix]
	working chan struct{} // requests that are worked on
}

// Bounds of the requests of agents.
const (
	failedJoins  = 20               // in a row from one address
	failedRenews = 100              // of renewals, which need a key that has joined
	maxRequests  = 64               // worked on at a time
	requestLasts = 10 * time.Second // until its body is there, and until it is worked on
	maxName      = 255              // characters of the name of an agent
	maxShort     = 64               // characters of its platform and program
)

// New is a service.
func New(o Options) *Service {
	if o.Lasts <= 0 || o.Lasts > fleet.JWTLasts {
		o.Lasts = fleet.JWTLasts
	}
	return &Service{Options: o, nonces: newNonces(), working: make(chan struct{}, maxRequests),
		joins: limiter.New[netip.Prefix](6*time.Second, failedJoins), renews: limiter.New[netip.Prefix](time.Second, failedRenews)}
}

func (s *Service) audit(e Event, err error) {
	if s.Audit == nil {
		return
	}
	e.At, e.Error = time.Now(), measure.AsError(err, measure.KindInternal)
	s.Audit(e)
}

// AccountJWTs are what a broker needs to know, by public key.
func (s *Service) AccountJWTs(ctx context.Context) (map[string]string, error) {
	revoked, err := s.Registry.Revoked(ctx)
	if err != nil {
		return nil, err
	}
	return s.Authority.AccountJWTs(revoked)
}

// NATSConfig is [Authority.NATSConfig] with the agents that are revoked now.
func (s *Service) NATSConfig(ctx context.Context) (string, error) {
	revoked, err := s.Registry.Revoked(ctx)
	if err != nil {
		return "", err
	}
	return s.Authority.NATSConfig(revoked)
}

// MakeToken makes a join token for by ([Registry.MakeToken]).
func (s *Service) MakeToken(ctx context.Context, o TokenOrder, by string) (secret string, t Token, err error) {
	secret, t, err = s.Registry.MakeToken(ctx, o)
	s.audit(Event{Action: ActionToken, By: by, Token: t.ID, Labels: o.Labels}, err)
	return secret, t, err
}

// EndToken deletes a join token for by.
func (s *Service) EndToken(ctx context.Context, id, by string) error {
	err := s.Registry.EndToken(ctx, id)
	s.audit(Event{Action: ActionUntoken, By: by, Token: id}, err)
	return err
}

// Revoke keeps an agent from joining, renewing and connecting, for good, and has the broker cut it off: system is a connection with
// [Authority.System]. If only the broker fails, with kind unreachable or refused, the agent is revoked all the same, and
// [Service.Push] cuts it off when the broker can be reached.
func (s *Service) Revoke(ctx context.Context, system *nats.Conn, agent, by string) error {
	a, err := s.Registry.Revoke(ctx, agent)
	if err == nil {
		err = s.Push(ctx, system)
	}
	s.audit(Event{Action: ActionRevoke, By: by, Agent: agent, Name: a.Name, Labels: a.Labels}, err)
	return err
}

// Push writes the JWT of the account to the broker, which cuts off agents that are revoked. A hub calls it after each connection of system:
// the broker may have missed a revocation. It fails with kind unreachable if the broker does not answer, or refused.
func (s *Service) Push(ctx context.Context, system *nats.Conn) error {
	accounts, err := s.AccountJWTs(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, fleet.Answers)
	defer cancel()
	said, err := system.RequestWithContext(ctx, "$SYS.REQ.CLAIMS.UPDATE", []byte(accounts[s.Authority.Account()]))
	if err != nil {
		return measure.Fail(measure.KindUnreachable, "enrol.push.unreachable", measure.Figures{"cause": err})
	}
	var answer struct {
		Error *struct {
			Description string `json:"description"`
		} `json:"error"`
	}
	if err := json.Unmarshal(said.Data, &answer); err != nil {
		return measure.Fail(measure.KindRefused, "enrol.push.refused", measure.Figures{"cause": err})
	}
	if answer.Error != nil {
		return measure.Fail(measure.KindRefused, "enrol.push.refused", measure.Figures{"cause": answer.Error.Description})
	}
	return nil
}

// VerifyRequest fails unless an agent that may connect signed a nonce that was not used before. It is for requests with
// documents, whose header fields are those of [fleet.PathResults]. Status is for the answer, and failures are counted by
// address as those of renewals are.
func (s *Service) VerifyRequest(r *http.Request) (agent string, status int, failure *measure.Error) {
	agent = r.Header.Get(fleet.HeaderAgent)
	network := limiter.NetworkOf(r.RemoteAddr)
	if !s.renews.Allows(network) {
		status, failure = public(tooMany(network))
		return agent, status, failure
	}
	err := s.nonces.prove(agent, r.Header.Get(fleet.HeaderNonce), r.Header.Get(fleet.HeaderSignature))
	if err == nil {
		_, err = s.Registry.Admitted(r.Context(), agent)
	}
	if err == nil {
		return agent, http.StatusOK, nil
	}
	if status, failure = public(err); status < http.StatusInternalServerError {
		s.renews.Take(network)
	}
	s.audit(Event{Action: ActionProve, By: network.Addr().String(), Agent: shown(agent)}, err)
	return agent, status, failure
}

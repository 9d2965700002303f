package enrol

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"soku/internal/fleet"
	"soku/internal/limiter"
	"soku/internal/measure"
	"soku/internal/printable"
)

// Handler answers requests at [fleet.PathNonce], [fleet.PathJoin] and [fleet.PathRenew].
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc(fleet.PathNonce, s.answer(func(*http.Request) (any, error) {
		return fleet.Nonce{Nonce: s.nonces.make(), UnixNs: time.Now().UnixNano()}, nil
	}))
	mux.HandleFunc(fleet.PathJoin, s.answer(func(r *http.Request) (any, error) { return s.join(r) }))
	mux.HandleFunc(fleet.PathRenew, s.answer(func(r *http.Request) (any, error) { return s.renew(r) }))
	return mux
}

// answer bounds a request and writes what is said to it.
func (s *Service) answer(work func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(requestLasts)) // of its body; a test's recorder has none
		r.Body = http.MaxBytesReader(w, r.Body, fleet.MaxState)
		said, err := s.admit(r, work)
		status := http.StatusOK
		if err != nil {
			var failure *measure.Error
			status, failure = public(err)
			said = fleet.Joined{Error: failure}
			if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
				w.Header().Set("Retry-After", "10")
			}
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(said) // to a client that is gone
	}
}

// admit works on a request when there are not too many.
func (s *Service) admit(r *http.Request, work func(*http.Request) (any, error)) (any, error) {
	if r.Method != http.MethodPost {
		return nil, measure.Fail(measure.KindUsage, "enrol.method", measure.Figures{"method": shown(r.Method)})
	}
	late := time.NewTimer(requestLasts)
	defer late.Stop()
	select {
	case s.working <- struct{}{}:
		defer func() { <-s.working }()
		return work(r)
	case <-r.Context().Done():
	case <-late.C:
	}
	return nil, measure.Fail(measure.KindRefused, "enrol.busy", nil)
}

func (s *Service) join(r *http.Request) (fleet.Joined, error) {
	network := limiter.NetworkOf(r.RemoteAddr)
	if !s.joins.Allows(network) {
		return fleet.Joined{}, tooMany(network)
	}
	ask, err := read[fleet.Join](r)
	var a Agent
	var out fleet.Joined
	if err == nil {
		a, out, err = s.joinBy(r, ask)
	}
	s.count(s.joins, network, err)
	s.audit(Event{Action: ActionJoin, By: network.Addr().String(), Agent: shown(ask.Agent), Name: nameOf(ask.Name), Token: TokenID(strings.TrimSpace(ask.Token)), Labels: a.Labels}, err)
	return out, err
}

func (s *Service) joinBy(r *http.Request, ask fleet.Join) (Agent, fleet.Joined, error) {
	if ask.Version < fleet.Version-1 || ask.Version > fleet.Version+1 || ask.Version < 1 {
		return Agent{}, fleet.Joined{}, measure.Fail(measure.KindRefused, "enrol.version", measure.Figures{"version": ask.Version, "own": fleet.Version})
	}
	if err := s.nonces.prove(ask.Agent, ask.Nonce, ask.Signature); err != nil {
		return Agent{}, fleet.Joined{}, err
	}
	a, err := s.Registry.Join(r.Context(), strings.TrimSpace(ask.Token), Joining{ID: ask.Agent, Name: nameOf(ask.Name), Platform: shown(ask.Platform), Program: shown(ask.Program)})
	if err != nil {
		return Agent{}, fleet.Joined{}, err
	}
	out, err := s.permission(a)
	return a, out, err
}

func (s *Service) renew(r *http.Request) (fleet.Joined, error) {
	network := limiter.NetworkOf(r.RemoteAddr)
	if !s.renews.Allows(network) {
		return fleet.Joined{}, tooMany(network)
	}
	ask, err := read[fleet.Renew](r)
	if err == nil {
		err = s.nonces.prove(ask.Agent, ask.Nonce, ask.Signature)
	}
	var a Agent
	if err == nil {
		a, err = s.Registry.Admitted(r.Context(), ask.Agent)
	}
	var out fleet.Joined
	if err == nil {
		out, err = s.permission(a)
	}
	s.count(s.renews, network, err)
	s.audit(Event{Action: ActionRenew, By: network.Addr().String(), Agent: shown(ask.Agent), Name: a.Name, Labels: a.Labels}, err)
	return out, err
}

// permission is what an agent gets that may connect.
func (s *Service) permission(a Agent) (fleet.Joined, error) {
	jwt, err := s.Authority.AgentJWT(a.ID, s.Lasts)
	if err != nil {
		return fleet.Joined{}, err
	}
	return fleet.Joined{Hub: s.Authority.ID(), JWT: jwt, NATS: s.NATS, Labels: a.Labels, Certificates: s.Certificates}, nil
}

// count counts a failure that is not one of the hub. Requests that succeed are not counted: many hosts may share an address.
func (s *Service) count(l *limiter.Limiter[netip.Prefix], network netip.Prefix, err error) {
	if err == nil {
		return
	}
	if status, _ := public(err); status < http.StatusInternalServerError {
		l.Take(network)
	}
}

// read reads the message of a request.
func read[T any](r *http.Request) (T, error) {
	var none T
	body, err := io.ReadAll(r.Body)
	var long *http.MaxBytesError
	if errors.As(err, &long) {
		return none, measure.Fail(measure.KindFile, "enrol.body", measure.Figures{"limit": long.Limit})
	}
	if err != nil {
		return none, measure.Fail(measure.KindFile, "fleet.message.syntax", measure.Figures{"cause": err})
	}
	return fleet.Decode[T](body, fleet.MaxState)
}

// nameOf is the name of an agent as one line.
func nameOf(text string) string { return printable.Cut(printable.Words(text), maxName) }

// shown is a short text of an agent as one line.
func shown(text string) string { return printable.Cut(printable.Words(text), maxShort) }

func tooMany(network netip.Prefix) error {
	return measure.Fail(measure.KindRefused, "enrol.rate", measure.Figures{"address": network.Addr().String()})
}

// statuses has the status of each failure by code. Other failures happen inside the hub: strangers do not read their sentences.
var statuses = map[string]int{
	"enrol.method":         http.StatusMethodNotAllowed,
	"enrol.body":           http.StatusRequestEntityTooLarge,
	"fleet.message.long":   http.StatusRequestEntityTooLarge,
	"fleet.message.syntax": http.StatusBadRequest,
	"enrol.agent.syntax":   http.StatusBadRequest,
	"enrol.version":        http.StatusBadRequest,
	"enrol.nonce.invalid":  http.StatusUnauthorized,
	"enrol.nonce.used":     http.StatusUnauthorized,
	"enrol.signature":      http.StatusUnauthorized,
	"enrol.token.unknown":  http.StatusForbidden,
	"enrol.token.expired":  http.StatusForbidden,
	"enrol.token.used":     http.StatusForbidden,
	"enrol.agent.unknown":  http.StatusForbidden,
	"enrol.agent.revoked":  http.StatusForbidden,
	"enrol.rate":           http.StatusTooManyRequests,
	"enrol.busy":           http.StatusServiceUnavailable,
}

// public is a failure as the other end gets it.
func public(err error) (status int, failure *measure.Error) {
	failure = measure.AsError(err, measure.KindInternal)
	if status, ok := statuses[failure.Code]; ok {
		return status, failure
	}
	return http.StatusInternalServerError, measure.Fail(measure.KindInternal, "enrol.unavailable", nil)
}

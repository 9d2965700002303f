package daemon

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"soku/internal/agent"
	"soku/internal/fleet"
	"soku/internal/fleet/endpoint"
	"soku/internal/host"
	"soku/internal/measure"
	"soku/internal/measure/option"
)

// Policy is what the owner of a host allows. The zero value of a member does not limit, but copies and
// commands are allowed only where it says so.
type Policy struct {
	Tests       []measure.Test
	Rate        measure.Rate     // of a trial, in each direction
	Duration    measure.Duration // of a trial
	BytesPerDay measure.Size     // sent and received by the trials of a day (UTC)
	To          []netip.Prefix   // that may be sent to
	Copies      bool
	Commands    bool         // of plans
	Spool       measure.Size // of results that wait; 0: 1 GiB, or a tenth of the disk if that is less
}

// message is the policy as the hub is given it.
func (p Policy) message() fleet.Policy {
	m := fleet.Policy{
		Tests: p.Tests, RateBps: int64(p.Rate), Duration: p.Duration, BytesPerDay: int64(p.BytesPerDay), Copies: p.Copies, Commands: p.Commands,
	}
	for _, network := range p.To {
		m.To = append(m.To, network.String())
	}
	return m
}

// resolveTimeout is how long the name of a far end may take to resolve.
const resolveTimeout = 5 * time.Second

// admit refuses a trial that the policy does not allow. The spec that it returns has the address
// that was checked in place of a name: the name could lead elsewhere a moment later. An error has
// kind refused, or usage if the options are none of the test.
func (p Policy) admit(ctx context.Context, s agent.Spec) (agent.Spec, error) {
	spec := option.SpecOf(s.Test)
	if spec == nil {
		return s, measure.Fail(measure.KindUsage, "daemon.order.test", measure.Figures{"test": s.Test})
	}
	o, err := option.Effective(s.Options, s.Test)
	if err != nil {
		return s, err
	}
	if err := p.message().Check(s.Test, o); err != nil {
		return s, err
	}
	return p.checkFarEnd(ctx, spec, s, o)
}

// checkFarEnd refuses a trial that would send to a network that is not allowed.
func (p Policy) checkFarEnd(ctx context.Context, spec *option.Spec, s agent.Spec, o measure.Options) (agent.Spec, error) {
	if len(p.To) == 0 || spec.Hostless != nil && spec.Hostless(o) {
		return s, nil
	}
	name, port := s.Host, ""
	if h, n, err := net.SplitHostPort(s.Host); err == nil {
		name, port = h, n
	}
	addr, err := netip.ParseAddr(strings.Trim(name, "[]"))
	if err != nil {
		ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
		defer cancel()
		network := map[int]string{0: "ip", 4: "ip4", 6: "ip6"}[o.IPVersion]
		found, err := host.Lookup(ctx, network, name)
		if err != nil || len(found) == 0 {
			return s, measure.Fail(measure.KindUnreachable, "daemon.policy.name", measure.Figures{"host": name})
		}
		addr = found[0]
	}
	if addr = addr.Unmap(); !slices.ContainsFunc(p.To, func(n netip.Prefix) bool { return n.Contains(addr.WithZone("")) }) {
		return s, measure.Fail(measure.KindRefused, "daemon.policy.to", measure.Figures{"host": s.Host, "address": addr, "networks": p.message().To})
	}
	if s.Host = addr.String(); port != "" {
		s.Host = net.JoinHostPort(s.Host, port)
	}
	return s, nil
}

// admitServer refuses a server that the policy does not allow, and sets its limits otherwise.
func (p Policy) admitServer(s endpoint.Server) (endpoint.Server, error) {
	if s.CopyRoot != "" && !p.Copies {
		return s, measure.Fail(measure.KindRefused, "daemon.policy.copies", nil)
	}
	if p.Rate > 0 && (s.MaxRate <= 0 || s.MaxRate > p.Rate) {
		s.MaxRate = p.Rate
	}
	if p.Duration > 0 && (s.MaxDuration <= 0 || s.MaxDuration > p.Duration) {
		s.MaxDuration = p.Duration
	}
	if len(p.To) > 0 {
		s.Allow = p.To
	}
	return s, nil
}

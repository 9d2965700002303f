package conduct

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os/exec"
	"sync"
	"time"

	"soku/internal/agent"
	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
	"soku/internal/fleet/ssh"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/version"
)

// remotes are the hosts of a campaign that are reached by ssh; the zero value has none.
type remotes struct {
	inPlan []plan.RemoteHost
	hosts  map[string]*remote // by endpoint
}

type remote struct {
	*ssh.Host
	endpoint plan.Endpoint
}

// preparedAtOnce is how many hosts are prepared simultaneously.
const preparedAtOnce = 8

// newRemotes returns the hosts of a plan. Nothing is sent.
func newRemotes(h *Host, inPlan []plan.RemoteHost) remotes {
	r := remotes{inPlan: inPlan, hosts: map[string]*remote{}}
	binaries := &ssh.Binaries{Folder: h.Binaries, Self: h.Self.Path, Open: h.Open}
	client := ssh.Client{Program: h.SSH, Make: h.Self.Make}
	for _, in := range inPlan {
		o := ssh.Order{
			Destination: in.Endpoint.SSH, Keep: in.Endpoint.Keep, Serve: in.Serves, Ports: []int{in.Endpoint.Port}, CopyRoot: in.Endpoint.CopyRoot,
			Version: version.String(), Binary: binaries.For, Open: h.Open,
		}
		if in.Endpoint.Port == 0 {
			o.Ports = []int{option.DefaultPort, 0}
		}
		r.hosts[in.Name] = &remote{ssh.NewHost(client, o), in.Endpoint}
	}
	return r
}

// prepare prepares all hosts, several simultaneously, and reports each. It returns the
// failures by endpoint, or an error of kind interrupted if ctx ends.
func (r *remotes) prepare(ctx context.Context, begun func(Beginning)) (map[string]*measure.Error, error) {
	if len(r.inPlan) == 0 {
		return nil, nil
	}
	begun(Beginning{Step: StepHosts, Hosts: len(r.inPlan)})
	var all sync.WaitGroup
	var mu sync.Mutex
	failed := map[string]*measure.Error{}
	room := make(chan struct{}, preparedAtOnce)
	for _, h := range r.inPlan {
		all.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			s, err := r.hosts[h.Name].Session(ctx)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed[h.Name] = measure.AsError(err, measure.KindUnreachable)
				return
			}
			begun(Beginning{Step: StepHost, Host: r.prepared(h.Name, s)})
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return nil, measure.AsError(context.Cause(ctx), measure.KindInterrupted)
	}
	return failed, nil
}

// clockTolerance is how far the clock of a host may be off without a warning.
const clockTolerance = time.Second

func (r *remotes) prepared(name string, s *ssh.Session) Prepared {
	p := Prepared{
		Name: name, Platform: s.Platform.String(), Copied: s.Copied, Duration: s.Lasted, Port: s.Port,
		Offset: s.Clock.Offset, Uncertainty: s.Clock.Uncertainty,
		ClockOff: s.Clock.Offset.Abs()-s.Clock.Uncertainty > clockTolerance,
	}
	if s.Port != 0 && s.Port != cmp.Or(r.hosts[name].endpoint.Port, option.DefaultPort) {
		p.PortTaken = option.DefaultPort
	}
	return p
}

// enter gives a trial the address, port and token of a server that was started by ssh. A host
// whose connection was lost is prepared again.
func (r *remotes) enter(ctx context.Context, j *schedule.Job, access *agent.Access) error {
	if j.Client.SSH != "" {
		if _, err := r.session(ctx, j.Client.Endpoint.Name); err != nil {
			return err
		}
	}
	h := r.hosts[j.Server.Endpoint.Name]
	if h == nil {
		return nil
	}
	s, err := r.session(ctx, j.Server.Endpoint.Name)
	if err != nil {
		return err
	}
	planned := h.endpoint
	if j.Server.Endpoint.Label == "" && planned.Address == "" {
		j.Server.Endpoint.Address = s.Address
	}
	// A port that the test itself names is that of another server.
	port := cmp.Or(planned.Port, option.DefaultPort)
	if s.Port != 0 && j.NeedsOwnServer() && cmp.Or(j.Options.Port, port) == port {
		j.Options.Port = s.Port
		*access = agent.Access{Token: s.Token}
	}
	return nil
}

// session returns the session of a host. The error names the host.
func (r *remotes) session(ctx context.Context, endpoint string) (*ssh.Session, error) {
	s, err := r.hosts[endpoint].Session(ctx)
	var e *measure.Error
	if errors.As(err, &e) {
		named := *e
		named.Figures = maps.Clone(e.Figures)
		if named.Figures == nil {
			named.Figures = measure.Figures{}
		}
		named.Figures["host"] = endpoint
		return nil, &named
	}
	return s, err
}

// remotePlace runs trials with an end on a host that is reached by ssh.
type remotePlace struct {
	agent.Place
	remotes *remotes
}

// lossNoticed is how much later than the failure of a trial the end of a connection may be noticed.
const lossNoticed = time.Second

// Run implements [agent.Place]. A trial that failed when the connection to one of its hosts ended,
// with which the server there ends, was lost with that host.
func (p remotePlace) Run(ctx context.Context, s agent.Spec, h agent.Hooks) *measure.Result {
	client, server := p.remotes.ended(ctx, s.Client.Name), p.remotes.ended(ctx, s.Server.Name)
	r := p.Place.Run(ctx, s, h)
	if r.Error == nil || ctx.Err() != nil {
		return r
	}
	limit := time.NewTimer(lossNoticed)
	defer limit.Stop()
	lost := s.Client.Name
	select {
	case <-client:
	case <-server:
		lost = s.Server.Name
	case <-limit.C:
		// The connection to the host stands, so that only the process of the trial can be lost.
		if client == nil || r.Error.Code != "agent.process.no_result" && !agent.Lost(r.Error) {
			return r
		}
	}
	r.Error = measure.Fail(measure.KindBroken, "ssh.lost", measure.Figures{"host": lost, "why": r.Error.Figures["why"]})
	return r
}

// ended is closed when the connection to a host has ended. It is nil if the host is not reached
// by ssh, or cannot be reached.
func (r *remotes) ended(ctx context.Context, endpoint string) <-chan struct{} {
	h := r.hosts[endpoint]
	if h == nil {
		return nil
	}
	s, err := h.Session(ctx)
	if err != nil {
		return nil
	}
	return s.Done()
}

// clock compares the clock of a host.
func (r *remotes) clock(ctx context.Context, endpoint string) (agent.Clock, error) {
	s, err := r.session(ctx, endpoint)
	if err != nil {
		return agent.Clock{}, err
	}
	return s.CompareClock(ctx)
}

// child makes the process that runs a trial on a host.
func (r *remotes) child(ctx context.Context, endpoint string) (*exec.Cmd, error) {
	s, err := r.session(ctx, endpoint)
	if err != nil {
		return nil, err
	}
	return s.Command(ctx, "trial"), nil
}

// close has all hosts remove what the campaign has there.
func (r *remotes) close() {
	var all sync.WaitGroup
	for _, h := range r.hosts {
		all.Go(h.Close)
	}
	all.Wait()
}

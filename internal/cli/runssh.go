package cli

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"soku/internal/agent"
	"soku/internal/campaign"
	"soku/internal/fleet/ssh"
	"soku/internal/measure"
	"soku/internal/text"
	"soku/internal/version"
)

// remotes are the hosts of a campaign that are reached by ssh; the zero value has none.
type remotes struct {
	inPlan []campaign.RemoteHost
	hosts  map[string]*remote // by endpoint
}

type remote struct {
	*ssh.Host
	endpoint campaign.Endpoint
}

// preparedAtOnce is how many hosts are prepared at once.
const preparedAtOnce = 8

// newRemotes finds them in a plan. Nothing is sent.
func newRemotes(sys *System, inPlan []campaign.RemoteHost, folder string) remotes {
	r := remotes{inPlan: inPlan, hosts: map[string]*remote{}}
	binaries := &ssh.Binaries{Folder: cmp.Or(folder, sys.Getenv("SOKU_BINARIES")), Self: sys.self().Path, Open: sys.Open}
	client := ssh.Client{Program: strings.Fields(cmp.Or(strings.TrimSpace(sys.Getenv("SOKU_SSH")), "ssh")), Make: sys.Command}
	for _, h := range inPlan {
		o := ssh.Order{
			Destination: h.Endpoint.SSH, Keep: h.Endpoint.Keep, Serve: h.Serves, Ports: []int{h.Endpoint.Port}, CopyRoot: h.Endpoint.CopyRoot,
			Version: version.String(), Binary: binaries.For, Open: sys.Open,
		}
		if h.Endpoint.Port == 0 {
			o.Ports = []int{measure.DefaultPort, 0}
		}
		r.hosts[h.Name] = &remote{ssh.NewHost(client, o), h.Endpoint}
	}
	return r
}

// prepare prepares all hosts, several at once, and reports each on stderr. It returns the
// failures by endpoint; the error is of kind interrupted, if ctx ends.
func (r *remotes) prepare(ctx context.Context, sys *System) (map[string]*measure.Error, error) {
	if len(r.inPlan) == 0 {
		return nil, nil
	}
	fmt.Fprintln(sys.Stderr, sys.Catalogue.Sentence("run.hosts", text.Args{"Hosts": len(r.inPlan)}))
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
			reportHost(sys, h.Name, s)
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return nil, measure.AsError(context.Cause(ctx), measure.KindInterrupted)
	}
	return failed, nil
}

// clockTolerance is how far the clock of a host may be off before that is worth a warning.
const clockTolerance = time.Second

func reportHost(sys *System, name string, s *ssh.Session) {
	args := text.Args{
		"Host": name, "Platform": s.Platform.String(), "Copied": s.Copied, "Lasted": s.Lasted, "Port": s.Port,
		"Ahead": s.Clock.Offset >= 0, "Offset": s.Clock.Offset.Abs(), "Uncertainty": s.Clock.Uncertainty,
	}
	fmt.Fprintln(sys.Stderr, sys.Catalogue.Sentence("run.host", args))
	if s.Clock.Offset.Abs()-s.Clock.Uncertainty > clockTolerance {
		fmt.Fprintln(sys.Stderr, sys.Catalogue.Sentence("run.host_clock", args))
	}
}

// enter gives a trial the address, port and token of a server that was started by ssh. A host
// whose connection was lost is prepared again.
func (r *remotes) enter(ctx context.Context, j *campaign.Job, access *agent.Access) error {
	if j.Client.SSH != "" {
		if _, err := r.hosts[j.Client.Endpoint.Name].Session(ctx); err != nil {
			return err
		}
	}
	h := r.hosts[j.Server.Endpoint.Name]
	if h == nil {
		return nil
	}
	s, err := h.Session(ctx)
	if err != nil {
		return err
	}
	planned := h.endpoint
	if j.Server.Endpoint.Label == "" && planned.Address == "" {
		j.Server.Endpoint.Address = s.Address
	}
	// A port that the test itself names is that of another server.
	port := cmp.Or(planned.Port, measure.DefaultPort)
	if s.Port != 0 && j.NeedsOwnServer() && cmp.Or(j.Options.Port, port) == port {
		j.Options.Port = s.Port
		*access = agent.Access{Token: s.Token}
	}
	return nil
}

// Run implements [agent.Place]. A trial that ended without a result did so because its
// connection was lost.
func (p remotePlace) Run(ctx context.Context, s agent.Spec, h agent.Hooks) *measure.Result {
	r := p.Process.Run(ctx, s, h)
	if r.Error != nil && r.Error.Code == "agent.process.no_result" {
		r.Error = measure.Fail(measure.KindBroken, "ssh.lost", measure.Figures{"host": s.Client.String(), "why": r.Error.Figures["why"]})
	}
	return r
}

// remotePlace is a host that is reached by ssh.
type remotePlace struct{ agent.Process }

// child makes the process that runs a trial on a host.
func (r *remotes) child(ctx context.Context, endpoint string) (*exec.Cmd, error) {
	s, err := r.hosts[endpoint].Session(ctx)
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

package cli

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"time"

	"soku/internal/agent"
	"soku/internal/campaign"
	"soku/internal/engine/filecopy"
	"soku/internal/lab"
	"soku/internal/measure"
	"soku/internal/text"
)

// loadPlan reads a plan and the topology that it names, if any, and fills in
// the addresses that the plan leaves to the topology. limits is a person's own file of the
// catalog; empty for none.
func loadPlan(sys *System, file, limits string) (*campaign.Plan, *lab.Topology, error) {
	p, err := campaign.LoadWith(file, sys.ReadFile, knownLimits(sys, limits))
	if err != nil {
		return nil, nil, err
	}
	if p.Lab == "" {
		return p, nil, checkCopies(p, nil)
	}
	t, err := lab.Load(p.LabFile(), sys.ReadFile)
	if err != nil {
		return nil, nil, err
	}
	err = p.Resolve(func(host, label string) (string, error) {
		a, err := t.Address(host, label)
		return a.String(), err
	})
	if err != nil {
		return nil, nil, err
	}
	for _, e := range p.Endpoints {
		if e.Value.Host != "" && t.Node(e.Value.Host) == nil {
			return nil, nil, measure.Fail(measure.KindFile, "cli.plan.unknown_host", measure.Figures{
				"file": file, "endpoint": e.Name, "host": e.Value.Host, "lab": t.Name, "topology": p.LabFile(),
			})
		}
	}
	if err := cmp.Or(checkServers(p, t), checkCopies(p, t)); err != nil {
		return nil, nil, err
	}
	return p, t, nil
}

// checkCopies checks that the servers that are started for the plan take the copies of its
// patterns; t is nil without a lab.
func checkCopies(p *campaign.Plan, t *lab.Topology) error {
	for _, pt := range p.AllPatterns() {
		if !slices.ContainsFunc(pt.Tests, copiesToServer) {
			continue
		}
		for _, server := range p.Servers(&pt) {
			e, _ := p.Endpoints.Get(server.Endpoint.Name)
			if server.SSH != "" && e.Server == "" && e.CopyRoot == "" {
				return measure.Fail(measure.KindFile, "cli.plan.no_copy_root", measure.Figures{
					"file": p.File, "pattern": pt.Name, "endpoint": server.Endpoint.Name,
				})
			}
			if t == nil {
				continue
			}
			if n := t.Node(server.Host); n != nil && n.Disk == nil {
				return measure.Fail(measure.KindFile, "cli.plan.no_disk", measure.Figures{
					"file": p.File, "pattern": pt.Name, "host": server.Host, "lab": t.Name, "topology": p.LabFile(),
				})
			}
		}
	}
	return nil
}

// copiesToServer reports whether a test copies files to its server, or from there.
func copiesToServer(t campaign.PatternTest) bool {
	o, err := t.Options.Effective(t.Test)
	return t.Test == measure.TestCopy && err == nil && o.NeedsServer(t.Test) && filecopy.OptionsOf(o).Stage != measure.StageNetwork
}

// checkServers checks that a server answers at the far end of every pattern in a lab.
func checkServers(p *campaign.Plan, t *lab.Topology) error {
	for _, pt := range p.AllPatterns() {
		if !slices.ContainsFunc(pt.Tests, func(t campaign.PatternTest) bool { return t.Test.NeedsServer() }) {
			continue
		}
		for _, server := range p.Servers(&pt) {
			if n := t.Node(server.Host); n != nil && !n.Server {
				return measure.Fail(measure.KindFile, "cli.plan.no_server", measure.Figures{
					"file": p.File, "pattern": pt.Name, "host": server.Host, "lab": t.Name, "topology": p.LabFile(),
				})
			}
		}
	}
	return nil
}

// place is where the trials of a campaign run: this machine and those it
// reaches, with an emulated network around them or not.
type place struct {
	lab     *lab.Lab // nil without one
	remotes remotes  // none until they are looked for
}

// bringUp builds the emulated network of a campaign, in the place of one that a former run
// of the campaign left behind because it was killed.
func bringUp(ctx context.Context, sys *System, t *lab.Topology, campaignID string) (*place, error) {
	if t == nil {
		return &place{}, nil
	}
	if !sys.Root {
		return nil, measure.Fail(measure.KindPermission, "cli.plan.lab_needs_root", measure.Figures{"lab": t.Name})
	}
	o, err := labOptions(sys)
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(sys.Stderr, sys.Catalogue.Sentence("lab.building", text.Args{"Lab": t.Name}))
	o.Owner = campaignID
	o.Progress = nil // its steps are of no interest around a campaign
	l, err := lab.Up(ctx, t, o)
	if err != nil {
		return nil, err
	}
	return &place{lab: l}, nil
}

// downTimeout is how long taking a lab down may last, also after an interrupt.
const downTimeout = 20 * time.Second

func (p *place) down(ctx context.Context) error {
	p.remotes.close()
	if p.lab == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), downTimeout)
	defer cancel()
	return p.lab.Down(ctx)
}

// shell runs the plan's commands in its folder. In a lab they can reach its
// hosts with: soku lab exec "$SOKU_LAB" HOST -- COMMAND.
func (p *place) shell(sys *System, plan *campaign.Plan) campaign.Shell {
	s := campaign.Shell{Command: sys.Command, Argv: plan.Shell, Dir: plan.Dir()}
	if p.lab != nil {
		s.More = []string{"SOKU_LAB=" + p.lab.Topology.Name}
	}
	return s
}

// runner runs each trial where its client is. A trial that may run at the same
// time as others, because several do or because it belongs to a group, has a
// process of its own, so that it has a processor cost of its own. atOnce is how
// many trials run at once.
func (p *place) runner(sys *System, access agent.Access, atOnce int) campaign.Runner {
	return campaign.Places{Access: access, Enter: p.remotes.enter, Now: sys.Now, Of: func(j campaign.Job) agent.Place {
		if j.Client.Host == "" && len(j.Client.Command) == 0 && j.Client.SSH == "" && j.Trial.Group == nil && atOnce <= 1 {
			return here(sys)
		}
		own := agent.Process{Now: sys.Now, Command: func(ctx context.Context) (*exec.Cmd, error) {
			return p.child(ctx, sys, j.Client)
		}}
		if j.Client.SSH != "" {
			return remotePlace{own}
		}
		return own
	}}
}

// child makes the process that runs a trial at a client.
func (p *place) child(ctx context.Context, sys *System, client campaign.Target) (*exec.Cmd, error) {
	if client.SSH != "" {
		return p.remotes.child(ctx, client.Endpoint.Name)
	}
	if argv := client.Command; client.Host == "" && len(argv) > 0 {
		return sys.Command(ctx, argv[0], append(argv[1:len(argv):len(argv)], "trial")...), nil
	}
	if client.Host == "" {
		return sys.self().Command(ctx, "trial")
	}
	program, err := sys.self().Path()
	if err != nil {
		return nil, err
	}
	cmd := p.lab.Command(ctx, client.Host, program, "trial")
	cmd.Dir = p.lab.DiskFolder(client.Host) // where copies make files, if nothing else is said
	return cmd, nil
}

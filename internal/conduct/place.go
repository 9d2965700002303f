package conduct

import (
	"context"
	"os/exec"
	"time"

	"soku/internal/agent"
	"soku/internal/campaign"
	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
	"soku/internal/lab"
	"soku/internal/measure"
	"soku/internal/process"
)

// place is where the trials of a campaign run: this machine and those it
// reaches, with an emulated network around them or not.
type place struct {
	host    *Host
	lab     *lab.Lab // or nil
	remotes remotes  // empty until the hosts are prepared
	agents  agents
}

// bringUp builds the emulated network of a campaign, if it has one, in the place of one that
// a former run of the campaign left behind because it was killed.
func (p *place) bringUp(ctx context.Context, t *lab.Topology, campaignID string, begun func(Beginning)) error {
	if t == nil {
		return nil
	}
	if !p.host.Root {
		return measure.Fail(measure.KindPermission, "cli.plan.lab_needs_root", measure.Figures{"lab": t.Name})
	}
	self, err := p.host.Self.Path()
	if err != nil {
		return err
	}
	begun(Beginning{Step: StepLab, Lab: t.Name})
	p.lab, err = lab.Up(ctx, t, lab.Options{RunDir: p.host.LabDir, Executable: self, Owner: campaignID})
	return err
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

// command runs the plan's commands: on the agent that the plan names, or in its folder. In a lab they can
// reach its hosts with: soku lab exec "$SOKU_LAB" HOST -- COMMAND.
func (p *place) command(plan *plan.Plan) func(context.Context, string, []string) ([]byte, error) {
	if plan.CommandsOn != "" {
		return p.agents.command
	}
	s := process.Shell{Command: p.host.Self.Make, Argv: plan.Shell, Dir: plan.Dir()}
	if p.lab != nil {
		s.More = []string{"SOKU_LAB=" + p.lab.Topology.Name}
	}
	return s.Run
}

// runner runs each trial where its client is. A trial that may run at the same
// time as others, because several do or because it belongs to a group, has a
// process of its own, so that it has a processor cost of its own. At most atOnce
// trials run concurrently.
func (p *place) runner(access agent.Access, atOnce int) campaign.Runner {
	return campaign.Places{Access: access, Baselines: &campaign.Baselines{}, Enter: p.remotes.enter, Now: p.host.Now, Of: func(j schedule.Job) agent.Place {
		where := p.host.Here
		if j.Client.Agent != "" {
			return p.agents.place(j, nil)
		}
		if j.Client.Host != "" || len(j.Client.Command) > 0 || j.Client.SSH != "" || j.Trial.Group != nil || atOnce > 1 {
			where = agent.Process{Now: p.host.Now, Clock: p.clock(j.Client), Command: func(ctx context.Context) (*exec.Cmd, error) {
				return p.child(ctx, j.Client)
			}}
		}
		if j.Client.SSH != "" || j.Server.SSH != "" {
			where = remotePlace{where, &p.remotes}
		}
		return p.agents.place(j, where)
	}}
}

// clock is what compares the clock of a client's process. It is nil for one of a command, which may lead anywhere.
func (p *place) clock(client plan.Target) func(context.Context) (agent.Clock, error) {
	switch {
	case client.SSH != "":
		return func(ctx context.Context) (agent.Clock, error) { return p.remotes.clock(ctx, client.Endpoint.Name) }
	case client.Host == "" && len(client.Command) > 0:
		return nil
	}
	return agent.SameClock
}

// child makes the process that runs a trial at a client.
func (p *place) child(ctx context.Context, client plan.Target) (*exec.Cmd, error) {
	if client.SSH != "" {
		return p.remotes.child(ctx, client.Endpoint.Name)
	}
	if argv := client.Command; client.Host == "" && len(argv) > 0 {
		return p.host.Self.Make(ctx, argv[0], append(argv[1:len(argv):len(argv)], "trial")...), nil
	}
	if client.Host == "" {
		return p.host.Self.Command(ctx, "trial")
	}
	program, err := p.host.Self.Path()
	if err != nil {
		return nil, err
	}
	cmd := p.lab.Command(ctx, client.Host, program, "trial")
	cmd.Dir = p.lab.DiskFolder(client.Host) // where copies make files, if nothing else is said
	return cmd, nil
}

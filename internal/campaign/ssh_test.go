package campaign_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"soku/internal/agent"
	"soku/internal/campaign"
	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
)

func TestMistakesAboutSSHAreNamedByTheirPlace(t *testing.T) {
	for endpoint, want := range map[string]string{
		"{ssh: -oProxyCommand=reboot}":                `plan.yaml:2:23: endpoints.vm.ssh: "-oProxyCommand=reboot" is no destination of ssh; write USER@HOST`,
		"{ssh: a b}":                                  `plan.yaml:2:23: endpoints.vm.ssh: "a b" is no destination of ssh`,
		"{ssh: vm, command: [soku]}":                  `plan.yaml:2:23: endpoints.vm.ssh: ssh excludes host and command`,
		"{address: 10.0.0.1, keep: true}":             `plan.yaml:2:43: endpoints.vm.keep: keep is for an endpoint with ssh`,
		"{address: vm, copy_root: /srv}":              `plan.yaml:2:42: endpoints.vm.copy_root: copy_root is for an endpoint with ssh or agent, where the campaign starts the server; leave it out`,
		"{ssh: vm, server: running, copy_root: /srv}": `plan.yaml:2:55: endpoints.vm.copy_root: copy_root is for`,
		"{agent: vm, ssh: vm}":                        `plan.yaml:2:25: endpoints.vm.agent: agent excludes ssh, host and command`,
		"{address: vm, server: stopped}":              `plan.yaml:2:39: endpoints.vm.server: server is "stopped"; write running`,
	} {
		_, err := plan.Parse("plan.yaml", []byte("campaign: a\nendpoints: {vm: "+endpoint+"}\nto: vm\ntests: {up: {test: tcp}}\n"))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
}

func TestHostsAreReachedBySSHWhereATrialNeedsThem(t *testing.T) {
	p, err := plan.Parse("plan.yaml", []byte(`campaign: a
endpoints:
  client: {ssh: admin@client}
  server: {ssh: "ssh://admin@server.example:2222", addresses: {vlan: 10.0.0.2}}
  ours: {ssh: ours, server: running}
  theirs: {ssh: theirs, address: 10.0.0.4}
  idle: {ssh: idle}
  plain: {address: 10.0.0.5}
factors:
  path:
    - {name: a, from: client, to: server}
    - {name: b, from: client, to: server.vlan}
    - {name: c, to: ours}
    - {name: d, to: plain}
    - {name: e, to: theirs}
  via: {levels: [soku, iperf3]}
exclude: [{path: e, via: soku}]
tests: {up: {test: tcp}}
`))
	if err != nil {
		t.Fatal(err)
	}
	names := func(only plan.Selection) (got []string) {
		for _, h := range p.RemoteHosts(only) {
			name := h.Name
			if h.Serves {
				name += " serves"
			}
			got = append(got, name)
		}
		return got
	}
	if got := names(nil); !reflect.DeepEqual(got, []string{"client", "server serves", "ours"}) {
		t.Errorf("hosts %v", got)
	}
	only, err := plan.ParseSelection([]string{"path=c,d"})
	if err != nil {
		t.Fatal(err)
	}
	if got := names(only); !reflect.DeepEqual(got, []string{"ours"}) {
		t.Errorf("hosts %v", got)
	}
	for b := range schedule.Blocks(p, "", 0) {
		j := b.Job(0)
		want := map[string]string{"server": "server.example", "server.vlan": "10.0.0.2", "ours": "ours", "plain": "10.0.0.5", "theirs": "10.0.0.4"}[j.Server.Reference()]
		if j.Server.Endpoint.Address != want {
			t.Errorf("%s has the address %q", j.Server.Reference(), j.Server.Endpoint.Address)
		}
	}
}

// recorder is a place that keeps what it was to run.
type recorder struct{ spec agent.Spec }

func (r *recorder) Run(_ context.Context, s agent.Spec, _ campaign.Hooks) *measure.Result {
	r.spec = s
	return s.NotRun(time.Now(), nil)
}

func TestATrialIsEnteredBeforeItRuns(t *testing.T) {
	place, gone := &recorder{}, errors.New("the host is gone")
	p := campaign.Places{
		Access: agent.Access{Token: "given"}, Now: time.Now, Of: func(schedule.Job) agent.Place { return place },
		Enter: func(_ context.Context, j *schedule.Job, a *agent.Access) error {
			if j.Server.Endpoint.Name == "gone" {
				return gone
			}
			j.Options.Port, a.Token = 99, "once"
			return nil
		},
	}
	j := schedule.Job{Test: measure.TestTCP}
	p.Run(t.Context(), j, campaign.Hooks{})
	if place.spec.Options.Port != 99 || place.spec.Access.Token != "once" || p.Access.Token != "given" {
		t.Errorf("it ran %+v", place.spec)
	}
	j.Server.Endpoint.Name = "gone"
	if r := p.Run(t.Context(), j, campaign.Hooks{}); r.Error == nil || r.Error.Message != gone.Error() {
		t.Errorf("error %v", r.Error)
	}
}

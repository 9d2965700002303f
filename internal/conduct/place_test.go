package conduct

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"soku/internal/agent"
	"soku/internal/campaign"
	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
	"soku/internal/catalog"
	"soku/internal/durable"
	"soku/internal/measure"
	"soku/internal/measure/option"
)

func TestTrialsAtOnceHaveProcessesOfTheirOwn(t *testing.T) {
	addr := startServer(t)
	host := ThisHost()
	runner := (&place{host: &host}).runner(agent.Access{}, 1)
	o := option.Defaults(measure.TestTCP)
	o.Duration = measure.Duration(200 * time.Millisecond)
	job := schedule.Job{Test: measure.TestTCP, Options: o, Server: plan.Target{Endpoint: measure.Endpoint{Address: addr}}}

	alone := runner.Run(t.Context(), job, campaign.Hooks{})
	if alone.Error != nil {
		t.Fatal(alone.Error)
	}
	// The server, too, is this process here, so the two share it.
	if c := alone.Hosts.Client.Counters; !c.Shared {
		t.Errorf("a trial alone ran in another process: %+v", c)
	}
	if r := (&place{host: &host}).runner(agent.Access{}, 2).Run(t.Context(), job, campaign.Hooks{}); r.Error != nil || r.Hosts.Client.Counters.Shared {
		t.Errorf("one of two trials at once: %v, %+v", r.Error, r.Hosts.Client)
	}
	job.Trial.Group = &measure.Group{ID: "1", Trials: 2}
	var ready, all sync.WaitGroup
	ready.Add(2)
	for range 2 {
		all.Go(func() {
			arrived := sync.OnceFunc(ready.Done)
			defer arrived()
			r := runner.Run(t.Context(), job, campaign.Hooks{Ready: func(context.Context, time.Duration) (time.Time, error) {
				arrived()
				ready.Wait()
				return time.Time{}, nil
			}})
			if r.Error != nil {
				t.Error(r.Error)
			} else if c := r.Hosts.Client.Counters; c.Shared || c.CoresUsed <= 0 || c.CPUSecPerGB <= 0 {
				t.Errorf("a trial of a group: %+v", c)
			}
		})
	}
	all.Wait()
}

func TestAPlanThatCopiesToAServerWithoutAFolderIsRefused(t *testing.T) {
	dir := t.TempDir()
	topology := filepath.Join(dir, "topology.yaml")
	plan := filepath.Join(dir, "plan.yaml")
	for _, c := range []struct{ name, hosts, plan, want string }{
		{"a lab", "b: {server: true}", "lab: topology.yaml\nendpoints: {b: {host: b}}\ntests: {files: {test: copy}}\n",
			"pattern all copies files to b, which has no disk of its own in lab x; write b: {server: true, disk: } in " + topology},
		{"a lab with a disk", "b: {server: true, disk: }", "lab: topology.yaml\nendpoints: {b: {host: b}}\ntests: {files: {test: copy}}\n", ""},
		{"a lab, the network alone", "b: {server: true}", "lab: topology.yaml\nendpoints: {b: {host: b}}\ntests: {files: {test: copy, stage: network}}\n", ""},
		{"ssh", "b:", "endpoints: {b: {ssh: b}}\ntests: {files: {test: copy}}\n",
			"pattern all copies files to b, and the plan names no folder for them; write copy_root: FOLDER in endpoint b"},
		{"ssh with a folder", "b:", "endpoints: {b: {ssh: b, copy_root: /srv}}\ntests: {files: {test: copy}}\n", ""},
		{"ssh with a server that runs", "b:", "endpoints: {b: {ssh: b, server: running}}\ntests: {files: {test: copy}}\n", ""},
		{"ssh without copies", "b:", "endpoints: {b: {ssh: b}}\ntests: {up: {test: tcp}}\n", ""},
	} {
		for file, text := range map[string]string{
			topology: "lab: x\nhosts:\n  a:\n  " + c.hosts + "\nlinks: [{from: a, to: b}]\n",
			plan:     "campaign: copies\nto: b\n" + c.plan,
		} {
			if err := durable.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, _, err := Load(plan, os.ReadFile, func() (*catalog.Catalog, error) { return catalog.Builtin(), nil })
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.name, err, c.want)
		}
	}
}

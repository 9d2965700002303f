package campaign_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
)

const cases = "../../examples/cases"

// casePlans are the plans of the five studies: for the lab, and for the cloud.
func casePlans(t *testing.T, name string) map[string]*plan.Plan {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(cases, "*", name))
	if err != nil || len(files) != 5 {
		t.Fatalf("%d files %s, %v", len(files), name, err)
	}
	plans := map[string]*plan.Plan{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if plans[file], err = plan.Parse(file, text); err != nil {
			t.Error(err)
			delete(plans, file)
		}
	}
	return plans
}

func TestEachStudyHasAPlanForTheLab(t *testing.T) {
	for file, p := range casePlans(t, "plan.yaml") {
		if p.Lab != "topology.yaml" || p.Title == "" || p.Seed == nil {
			t.Errorf("%s: lab %q, title %q, seed %v", file, p.Lab, p.Title, p.Seed)
		}
	}
}

// The study in the cloud and in the lab are one design: factors and their levels have the
// same names.
func TestThePlanForTheCloudHasTheDesignOfTheLabs(t *testing.T) {
	lab := casePlans(t, "plan.yaml")
	for file, cloud := range casePlans(t, "cloud.yaml") {
		if !strings.HasPrefix(string(cloud.Text), "# NOT RUN HERE") {
			t.Errorf("%s does not begin with what it is", file)
		}
		if cloud.Lab != "" {
			t.Errorf("%s is for a lab", file)
		}
		p := lab[filepath.Join(filepath.Dir(file), "plan.yaml")]
		if p == nil {
			continue // reported
		}
		if have, want := designOf(cloud), designOf(p); have != want {
			t.Errorf("%s:\n%s\nin the lab\n%s", file, have, want)
		}
	}
}

// Nothing has to be installed on the hosts of the cloud.
func TestTheHostsInTheCloudAreReachedBySSH(t *testing.T) {
	for file, p := range casePlans(t, "cloud.yaml") {
		hosts := p.RemoteHosts(nil)
		clients, servers := map[string]bool{}, map[string]bool{}
		for b := range schedule.Blocks(p, "c", 1) {
			for j := range b.Jobs() {
				clients[j.Client.Endpoint.Name], servers[j.Server.Endpoint.Name] = true, true
			}
			if b.Round > 1 {
				break
			}
		}
		if len(hosts) != len(p.Endpoints) || len(clients)+len(servers) != len(hosts) {
			t.Errorf("%s: %d of %d endpoints by ssh, %d clients and %d servers", file, len(hosts), len(p.Endpoints), len(clients), len(servers))
		}
		for _, h := range hosts {
			if h.Serves != servers[h.Name] || len(h.Endpoint.Command) > 0 {
				t.Errorf("%s: %s has a server: %v; %+v", file, h.Name, h.Serves, h.Endpoint)
			}
		}
	}
}

// designOf are the factors of a plan with their levels.
func designOf(p *plan.Plan) string {
	var out strings.Builder
	for _, f := range p.Factors {
		out.WriteString(f.Name + ":")
		for _, l := range f.Value.Levels {
			out.WriteString(" " + l.Name + ";")
		}
		out.WriteString("\n")
	}
	return out.String()
}

func TestCommandsOfTheCasesPassShellcheck(t *testing.T) {
	shellcheck, err := exec.LookPath("shellcheck")
	if err != nil {
		t.Skip("shellcheck is not installed: test/peers installs it")
	}
	checked := 0
	check := func(file, command string) {
		if command == "" {
			return
		}
		checked++
		run := exec.Command(shellcheck, "--shell=sh", "--severity=style", "-")
		run.Stdin = strings.NewReader(command)
		if out, err := run.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
	}
	for file, p := range casePlans(t, "cloud.yaml") {
		check(file, p.Before)
		check(file, p.After)
		for _, f := range p.Factors {
			for _, l := range f.Value.Levels {
				check(file, l.Before)
				check(file, l.After)
			}
		}
	}
	for _, script := range []string{"run", "interface-matrix/linodes"} {
		checked++
		if out, err := exec.Command(shellcheck, "--severity=style", filepath.Join(cases, script)).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", script, err, out)
		}
	}
	if checked < 6 {
		t.Errorf("%d commands", checked)
	}
}

package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"soku/test/tier"
)

func TestManifestsAreThoseOfKubernetes(t *testing.T) {
	tier.SpendsSeconds(t)
	files, err := filepath.Glob(filepath.Join(folder, "kubernetes", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no manifests: %v", err)
	}
	program := filepath.Join(t.TempDir(), "manifests")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir = "../../tools/manifests" // a module of its own
	build.Env = append(os.Environ(), "GOFLAGS=-mod=readonly")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(program, files...).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, want := range []string{"DaemonSet soku-agent", "Secret soku-join", "StatefulSet soku-hub", "Service soku-hub"} {
		if !strings.Contains(string(out), want+"\n") {
			t.Errorf("there is no %s in %q", want, out)
		}
	}
	unknown := filepath.Join(t.TempDir(), "unknown.yaml")
	if err := os.WriteFile(unknown, []byte("apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringdata: {a: b}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(program, unknown).CombinedOutput(); err == nil {
		t.Errorf("an unknown member is accepted: %s", out)
	}
}

func TestThePlaybookIsAnsible(t *testing.T) {
	tier.SpendsSeconds(t)
	ansible := need(t, "ansible-playbook")
	c := exec.Command(ansible, "--syntax-check", "-i", "inventory.ini", "agents.yml")
	c.Dir = filepath.Join(folder, "ansible")
	c.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "HOME="+t.TempDir())
	if out, err := c.CombinedOutput(); err != nil || strings.Contains(string(out), "WARNING") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestUserDataIsThatOfCloudInit(t *testing.T) {
	tier.SpendsSeconds(t)
	out, err := exec.Command(need(t, "cloud-init"), "schema", "--config-file", filepath.Join(folder, "cloud-init", "agent.yaml")).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Valid cloud-config") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestUserDataHasTheUnitOfTheAgent(t *testing.T) {
	var data struct {
		Files []struct{ Path, Content string } `yaml:"write_files"`
	}
	if err := yaml.Unmarshal([]byte(read(t, "cloud-init/agent.yaml")), &data); err != nil {
		t.Fatal(err)
	}
	for _, f := range data.Files {
		if f.Path == "/etc/systemd/system/soku-agent.service" {
			if want := read(t, "systemd/soku-agent.service"); strings.TrimSpace(f.Content) != strings.TrimSpace(want) {
				t.Errorf("it differs from the file:\n%s", f.Content)
			}
			return
		}
	}
	t.Error("it is not there")
}

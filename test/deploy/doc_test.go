// Package deploy_test checks the examples in the folder deploy with the programs that read them: units with
// systemd-analyze, manifests with the types of Kubernetes, a playbook with Ansible, user data with
// cloud-init, and the configuration of nginx by a campaign of agents that reach their hub through it.
package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"soku/test/built"
)

func TestMain(m *testing.M) { built.Main(m) }

// folder has the examples.
const folder = "../../deploy"

// read is an example.
func read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// need skips a test without a program that test/peers installs.
func need(t testing.TB, program string) string {
	t.Helper()
	for _, dir := range []string{"", "/usr/sbin/", "/sbin/"} { // not in the PATH of every user
		if path, err := exec.LookPath(dir + program); err == nil {
			return path
		}
	}
	t.Skipf("%s is not installed: test/peers installs it", program)
	return ""
}

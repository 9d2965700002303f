package deploy_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"soku/test/freeport"
	"soku/test/tier"
)

func TestANATSServerReadsWhatTheHubPrintsForIt(t *testing.T) {
	tier.SpendsSeconds(t)
	server := need(t, "nats-server")
	port := freeport.Row(t, 2)
	config := runHub(t, port, port+1).command("nats-config")
	if !strings.Contains(config, "\noperator: ") { // not in a comment
		t.Errorf("no line has the operator: %.200q", config)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "soku.conf"), config)
	c := exec.Command(server, "-t", "-c", "soku.conf")
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

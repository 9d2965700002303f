//go:build unix

package ssh_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"soku/internal/fleet/ssh"
	"soku/test/sshd"
)

// person is who uses ssh, and a host that lets them in as "host".
type person struct {
	*sshd.Keys
	host *sshd.Host
}

func newPerson(t *testing.T) person {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	keys := sshd.NewKeys(t)
	p := person{keys, keys.Start(t, "127.0.0.1", nil)}
	p.alias(t, "host", keys.Identity())
	return p
}

// alias names the host once more.
func (p person) alias(t *testing.T, name string, lines ...string) {
	t.Helper()
	p.Alias(t, name, append([]string{"HostName 127.0.0.1", fmt.Sprint("Port ", p.host.Port)}, lines...)...)
}

func (p person) client() ssh.Client {
	return ssh.Client{Program: strings.Fields(p.SSH()), Make: exec.CommandContext}
}

func order() ssh.Order {
	b := &ssh.Binaries{Self: os.Executable, Open: openFile}
	return ssh.Order{Destination: "host", Version: "test", Serve: true, Ports: []int{7658, 7777}, Binary: b.For, Open: openFile}
}

func (p person) open(t *testing.T, o ssh.Order) *ssh.Session {
	t.Helper()
	s, err := ssh.Open(t.Context(), p.client(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// left are the files on the host and the sockets here.
func (p person) left(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, dir := range []string{p.host.Home, os.Getenv("TMPDIR")} {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err == nil && path != dir && path != filepath.Join(p.host.Home, "tmp") {
				all = append(all, path)
			}
			return nil //nolint:nilerr // it was deleted meanwhile
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// nothingLeft waits until nothing of a session is left on the host and here.
func (p person) nothingLeft(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for len(p.left(t)) > 0 {
		if time.Now().After(deadline) {
			t.Fatalf("left: %v", p.left(t))
		}
		time.Sleep(10 * time.Millisecond)
	}
}

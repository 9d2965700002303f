//go:build unix

package sshd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"soku/test/freeport"
	"soku/test/output"
)

// Keys are those of a person and what the person knows. Several hosts may share them.
type Keys struct {
	Config string // configuration of ssh; tests add to it
	dir    string
}

// Host is where an sshd listens, and what its sessions find.
type Host struct {
	Port int
	Home string // HOME; its folder tmp is TMPDIR
	Pid  int    // of the process that listens
}

// NewKeys makes a key and an empty configuration. Without OpenSSH the test is skipped.
func NewKeys(t testing.TB) *Keys {
	t.Helper()
	if program() == "" {
		t.Skip("sshd is not installed: test/peers installs it")
	}
	k := &Keys{dir: t.TempDir()}
	k.Config = filepath.Join(k.dir, "config")
	k.generate(t, "key")
	common := fmt.Sprintf("Host *\n  User %s\n  IdentitiesOnly yes\n  UserKnownHostsFile %s\n  GlobalKnownHostsFile /dev/null\n  LogLevel INFO\n",
		username(t), filepath.Join(k.dir, "known"))
	write(t, k.Config, common)
	write(t, filepath.Join(k.dir, "known"), "")
	return k
}

// program returns the path of sshd, which must be absolute, or an empty string if there is none.
func program() string {
	for _, path := range []string{"/usr/sbin/sshd", "/usr/local/sbin/sshd"} {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	path, _ := exec.LookPath("sshd")
	return path
}

// SSH is the ssh of the person, as SOKU_SSH has it.
func (k *Keys) SSH() string { return "ssh -F " + k.Config }

// Identity is the line of the configuration with the key that hosts let in.
func (k *Keys) Identity() string { return "IdentityFile " + filepath.Join(k.dir, "key") }

// Alias adds a host to the configuration: its name and lines such as "Port 22".
func (k *Keys) Alias(t testing.TB, name string, lines ...string) {
	t.Helper()
	old, err := os.ReadFile(k.Config)
	if err != nil {
		t.Fatal(err)
	}
	// The first value that ssh finds counts, so what is more specific comes first.
	write(t, k.Config, "Host "+name+"\n  "+strings.Join(lines, "\n  ")+"\n"+string(old))
}

// Start runs an sshd until the test ends and lets the person in. Its key is known under
// address. start makes the process, such as in a namespace; nil: as any other. lines are more
// of its configuration.
func (k *Keys) Start(t testing.TB, address string, start func(ctx context.Context, argv ...string) *exec.Cmd, lines ...string) *Host {
	t.Helper()
	dir := t.TempDir()
	h := &Host{Port: freeport.One(t), Home: filepath.Join(dir, "home")}
	if err := os.MkdirAll(filepath.Join(h.Home, "tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 { // sshd gives up its rights in it
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Fatal(err)
		}
	}
	hostKey := (&Keys{dir: dir}).generate(t, "hostkey")
	config := filepath.Join(dir, "sshd_config")
	write(t, config, fmt.Sprintf(`Port %d
ListenAddress %s
HostKey %s
AuthorizedKeysFile %s
PidFile none
UsePAM no
StrictModes no
PermitRootLogin yes
PasswordAuthentication no
KbdInteractiveAuthentication no
SetEnv HOME=%s TMPDIR=%s
%s
`, h.Port, address, filepath.Join(dir, "hostkey"), filepath.Join(k.dir, "key.pub"), h.Home, filepath.Join(h.Home, "tmp"), strings.Join(lines, "\n")))
	known, err := os.OpenFile(filepath.Join(k.dir, "known"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = fmt.Fprintf(known, "[%s]:%d %s\n", address, h.Port, hostKey)
	if err = errors.Join(err, known.Close()); err != nil {
		t.Fatal(err)
	}
	if start == nil {
		start = func(ctx context.Context, argv ...string) *exec.Cmd {
			return exec.CommandContext(ctx, argv[0], argv[1:]...)
		}
	}
	cmd := start(context.Background(), program(), "-D", "-e", "-f", config)
	log := &output.Buffer{}
	cmd.Stderr, cmd.WaitDelay = log, time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	h.Pid = cmd.Process.Pid
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-ended
		if t.Failed() {
			t.Logf("sshd at %s: %s", address, log)
		}
	})
	select {
	case <-log.Has("Server listening on "):
	case <-ended:
		t.Fatalf("sshd ended: %s", log)
	case <-time.After(30 * time.Second):
		t.Fatalf("sshd does not listen: %s", log)
	}
	return h
}

// generate makes a key and returns its public half.
func (k *Keys) generate(t testing.TB, name string) string {
	t.Helper()
	file := filepath.Join(k.dir, name)
	if out, err := exec.CommandContext(t.Context(), "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", file).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen: %v: %s", err, out)
	}
	public, err := os.ReadFile(file + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(public))
}

// OtherIdentity is the line with a key that no host lets in.
func (k *Keys) OtherIdentity(t testing.TB) string {
	t.Helper()
	k.generate(t, "other")
	return "IdentityFile " + filepath.Join(k.dir, "other")
}

func username(t testing.TB) string {
	t.Helper()
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	return u.Username
}

func write(t testing.TB, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

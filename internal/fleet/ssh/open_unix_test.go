//go:build unix

package ssh_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"soku/internal/fleet/ssh"
	"soku/internal/measure"
	"soku/test/tier"
)

func TestAHostIsPreparedAndLeftAsItWas(t *testing.T) {
	tier.SpendsSeconds(t)
	p := newPerson(t)
	s := p.open(t, order())
	if s.Address != "127.0.0.1" || s.Platform != (ssh.Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}) || s.Port != 7777 || len(s.Token) < 20 || !s.Copied {
		t.Errorf("session %+v", s)
	}
	// It is the same clock.
	if off := s.Clock.Offset.Abs(); s.Clock.Uncertainty <= 0 || off > s.Clock.Uncertainty {
		t.Errorf("clock %+v", s.Clock)
	}
	folders, _ := filepath.Glob(filepath.Join(p.host.Home, "tmp", "soku-*"))
	if len(folders) != 1 {
		t.Fatalf("folders %v", folders)
	}
	if info, err := os.Stat(folders[0]); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v, %v", info.Mode(), err)
	}
	// The token is on no command line, where other users of the host could read it.
	if out, err := exec.Command("ps", "-eo", "args").Output(); err != nil || strings.Contains(string(out), s.Token) {
		t.Errorf("the token is on a command line: %v", err)
	}
	waiting := s.Command(t.Context(), "wait")
	out, err := waiting.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := waiting.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "waiting\n" {
		t.Fatalf("it wrote %q, %v", line, err)
	}
	s.Close()
	if err := waiting.Wait(); err != nil { // it ends with the session
		t.Errorf("the process on the host: %v", err)
	}
	p.nothingLeft(t)
}

func TestAKeptProgramIsNotCopiedAgain(t *testing.T) {
	tier.SpendsSeconds(t)
	p := newPerson(t)
	o := order()
	o.Keep = true
	for _, copied := range []bool{true, false} {
		s := p.open(t, o)
		if s.Copied != copied {
			t.Errorf("copied: %v, not %v", s.Copied, copied)
		}
		s.Close()
	}
	kept, _ := filepath.Glob(filepath.Join(p.host.Home, ".cache/soku/*/*"))
	if len(kept) != 1 || filepath.Base(kept[0]) != "soku" {
		t.Fatalf("kept: %v", kept)
	}
	// One that is damaged is.
	if err := os.WriteFile(kept[0], []byte("#!/bin/sh\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if s := p.open(t, o); !s.Copied {
		t.Error("a damaged program was run")
	}
}

func TestWhatIsCopiedHasTheChecksum(t *testing.T) {
	tier.SpendsSeconds(t)
	p := newPerson(t)
	o := order()
	binary := o.Binary
	o.Binary = func(f ssh.Platform) (ssh.Binary, error) {
		b, err := binary(f)
		b.Sum = strings.Repeat("0", 64)
		return b, err
	}
	p.fails(t, o, measure.KindBroken, "ssh.checksum")
}

// copying returns a client whose copies of the program run a shell command in place of ssh and its arguments, "$@".
func (p person) copying(t *testing.T, command string) ssh.Client {
	t.Helper()
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\ncase \"$*\" in *'cat >'*) "+command+"; exit ;; esac\nexec \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	c := p.client()
	c.Program = append([]string{script}, c.Program...)
	return c
}

func TestACopyThatStandsStillFails(t *testing.T) {
	tier.SpendsSeconds(t)
	p := newPerson(t)
	begin := time.Now()
	s, err := ssh.Open(t.Context(), p.copying(t, "exec sleep 60"), order().StallAfter(500*time.Millisecond))
	var e *measure.Error
	if !errors.As(err, &e) || e.Code != "ssh.copy_stalled" || e.Hint == "" || time.Since(begin) > 40*time.Second {
		t.Errorf("after %v: %v", time.Since(begin), err)
	}
	if s != nil {
		s.Close()
	}
	p.nothingLeft(t)
}

// ssh takes a part of the program every 0.3 s, for 3 s in all.
func TestASlowCopyEndsWell(t *testing.T) {
	tier.SpendsSeconds(t)
	p := newPerson(t)
	slow := p.copying(t, `{ for i in 0 1 2 3 4 5 6 7 8 9; do dd bs=64k count=1 2>/dev/null; sleep 0.3; done; cat; } | "$@"`)
	s, err := ssh.Open(t.Context(), slow, order().StallAfter(2*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	p.nothingLeft(t)
}

// fails checks that a host is not prepared, and that nothing of the attempt is left.
func (p person) fails(t *testing.T, o ssh.Order, kind measure.Kind, code string) *measure.Error {
	t.Helper()
	_, err := ssh.Open(t.Context(), p.client(), o)
	var e *measure.Error
	if !errors.As(err, &e) || e.Kind != kind || e.Code != code || e.Hint == "" {
		t.Fatalf("%s: %v", code, err)
	}
	p.nothingLeft(t)
	return e
}

func TestFailuresSayWhatToDo(t *testing.T) {
	tier.SpendsSeconds(t)
	p := newPerson(t)
	p.alias(t, "stranger", p.OtherIdentity(t))
	p.alias(t, "unknown", p.Identity(), "UserKnownHostsFile /dev/null")
	p.Alias(t, "nowhere", "HostName 127.0.0.1", "Port 1", p.Identity())
	p.Alias(t, "noname", "HostName no-such-host.invalid")
	for _, c := range []struct {
		destination, code string
		kind              measure.Kind
	}{
		{"stranger", "ssh.denied", measure.KindRefused},
		{"unknown", "ssh.host_key", measure.KindRefused},
		{"nowhere", "ssh.unreachable", measure.KindUnreachable},
		{"noname", "ssh.name", measure.KindUnreachable},
	} {
		o := order()
		o.Destination = c.destination
		if e := p.fails(t, o, c.kind, c.code); !strings.Contains(e.Message, c.destination) {
			t.Errorf("%s: %s", c.destination, e.Message)
		}
	}
	o := order()
	o.Version = "newer"
	p.fails(t, o, measure.KindUsage, "ssh.version")
	o = order()
	o.Binary = (&ssh.Binaries{Self: func() (string, error) { return "/nowhere/soku", nil }, Open: openFile}).For
	p.fails(t, o, measure.KindUsage, "ssh.no_binary")
}

func TestALostConnectionLeavesNothingAndIsOpenedAgain(t *testing.T) {
	tier.SpendsSeconds(t)
	p := newPerson(t)
	h := ssh.NewHost(p.client(), order())
	defer h.Close()
	first, err := h.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if same, err := h.Session(t.Context()); err != nil || same != first {
		t.Fatalf("another session: %v", err)
	}
	// The processes of sshd that serve the connection are children of the one that listens.
	if err := exec.Command("pkill", "-KILL", "-P", strconv.Itoa(p.host.Pid)).Run(); err != nil {
		t.Fatal(err)
	}
	<-first.Done()
	second, err := h.Session(t.Context())
	if err != nil || second == first || second.Token == first.Token {
		t.Fatalf("session %p, %v", second, err)
	}
	h.Close()
	p.nothingLeft(t)
}

func TestAHostThatEndsItsProcessesIsLeftAsItWas(t *testing.T) {
	tier.SpendsSeconds(t)
	p := newPerson(t)
	s := p.open(t, order())
	endpoint, err := exec.Command("pgrep", "-f", p.host.Home+"/tmp/soku").Output()
	if err != nil {
		t.Fatal(err)
	}
	pid := strings.TrimSpace(string(endpoint))
	script, err := exec.Command("ps", "-o", "ppid=", "-p", pid).Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := exec.Command("kill", "-TERM", strings.TrimSpace(string(script)), pid).Run(); err != nil {
		t.Fatal(err)
	}
	<-s.Done()
	s.Close()
	p.nothingLeft(t)
}

func TestAnInterruptEndsThePreparation(t *testing.T) {
	tier.SpendsSeconds(t)
	p := newPerson(t)
	o := order()
	binary := o.Binary
	interrupted := measure.Fail(measure.KindInterrupted, "cli.interrupted", nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	o.Binary = func(f ssh.Platform) (ssh.Binary, error) {
		cancel(interrupted)
		return binary(f)
	}
	if _, err := ssh.Open(ctx, p.client(), o); !errors.Is(err, interrupted) {
		t.Errorf("error %v", err)
	}
	p.nothingLeft(t)
}

func TestSomebodyElsesOutputIsBounded(t *testing.T) {
	tier.SpendsSeconds(t)
	for name, script := range map[string]string{
		"lines without end":  `while :; do echo hello; done`,
		"a line without end": `tr '\0' x </dev/zero`,
		"another protocol":   `echo soku-platform Linux x86_64; read -r a; echo 'soku-folder /$(reboot) yes 1'; cat >/dev/null`,
		"controls":           `printf 'soku-failed folder \033]0;title\007\n'; cat >/dev/null`,
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "fake")
			text := "#!/bin/sh\nfor a; do [ \"$a\" = -G ] && exit; done\nread -r script\n" + script + "\n"
			if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv("TMPDIR", t.TempDir())
			begin := time.Now()
			_, err := ssh.Open(t.Context(), ssh.Client{Program: []string{file}, Make: exec.CommandContext}, order())
			var e *measure.Error
			if !errors.As(err, &e) || !strings.HasPrefix(e.Code, "ssh.") || strings.ContainsAny(e.Message, "\x1b\x07") || len(e.Message) > 1000 {
				t.Errorf("error %v after %v", err, time.Since(begin))
			}
		})
	}
}

func TestWithoutSSHTheFailureNamesIt(t *testing.T) {
	_, err := ssh.Open(t.Context(), ssh.Client{Program: []string{"/nowhere/ssh"}, Make: exec.CommandContext}, order())
	var e *measure.Error
	if !errors.As(err, &e) || e.Code != "ssh.program" || e.Kind != measure.KindUsage {
		t.Errorf("error %v", err)
	}
}

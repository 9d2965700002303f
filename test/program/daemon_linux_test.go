package program

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"soku/test/built"
	"soku/test/freeport"
	"soku/test/tier"
)

func TestADaemonServesLogsAndShutsDownCleanly(t *testing.T) {
	tier.SpendsSeconds(t)
	soku := built.Program(t)
	dir := t.TempDir()
	pidFile, log := filepath.Join(dir, "pid"), filepath.Join(dir, "log")
	port := strconv.Itoa(freeport.One(t))
	began := exec.CommandContext(t.Context(), soku, "iperf3", "-s", "-D", "-p", port, "--pidfile", pidFile, "--logfile", log)
	if out, err := began.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%v, %s", err, out)
	}
	awaitText(t, log, "Server listening on "+port)
	text, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil || pid <= 1 || pid == began.Process.Pid {
		t.Fatalf("pid %q: %v", text, err)
	}
	ended := false
	t.Cleanup(func() {
		if !ended {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	if session, err := unix.Getsid(pid); err != nil || session != pid {
		t.Errorf("the daemon is in session %d: %v", session, err)
	}
	if _, err := client(t, soku, "iperf3", "-c", "127.0.0.1", "-p", port, "-n", "1M"); err != nil {
		t.Fatal(err)
	}
	awaitText(t, log, "(test #2)")
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	awaitText(t, log, "interrupt - the server has terminated")
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(pidFile); os.IsNotExist(err) {
			ended = true
			return
		}
		if time.Now().After(end) {
			t.Fatal("the file with its number is still there")
		}
	}
}

func awaitText(t *testing.T, file, text string) {
	t.Helper()
	var b []byte
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if b, _ = os.ReadFile(file); strings.Contains(string(b), text) {
			return
		}
	}
	t.Fatalf("%q does not come in %q", text, b)
}

func TestAPasswordPromptDoesNotEcho(t *testing.T) {
	tier.SpendsSeconds(t)
	terminal, far := openTerminal(t)
	c := exec.CommandContext(t.Context(), built.Program(t), "iperf3", "-c", "127.0.0.1", "-p", strconv.Itoa(freeport.One(t)), "--username", "mario", "--rsa-public-key-path", publicKey(t))
	c.Stdin, c.Stdout, c.Stderr = far, far, far
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var shown strings.Builder
	_ = terminal.SetReadDeadline(time.Now().Add(20 * time.Second))
	for typed := false; !strings.Contains(shown.String(), "unable to connect"); {
		b := make([]byte, 4096)
		n, err := terminal.Read(b)
		if err != nil {
			t.Fatalf("%v after %q", err, shown.String())
		}
		shown.Write(b[:n])
		if !typed && strings.Contains(shown.String(), "Password: ") {
			typed = true
			for end := time.Now().Add(10 * time.Second); echoes(t, far) && time.Now().Before(end); {
				time.Sleep(5 * time.Millisecond)
			}
			_, _ = terminal.WriteString("secret\n")
		}
	}
	if err := c.Wait(); err == nil || strings.Contains(shown.String(), "secret") {
		t.Errorf("%v, shown: %q", err, shown.String())
	}
}

// openTerminal opens a pseudo-terminal: the user's side, and the program's side.
func openTerminal(t *testing.T) (terminal, far *os.File) {
	t.Helper()
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Skip("no pseudo-terminal: " + err.Error())
	}
	t.Cleanup(func() { _ = terminal.Close() })
	raw, err := terminal.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var number int
	_ = raw.Control(func(fd uintptr) {
		if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err == nil {
			number, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if far, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Skip("no pseudo-terminal: " + err.Error())
	}
	t.Cleanup(func() { _ = far.Close() })
	return terminal, far
}

// echoes reports whether a terminal echoes its input.
func echoes(t *testing.T, far *os.File) bool {
	t.Helper()
	termios, err := unix.IoctlGetTermios(int(far.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return termios.Lflag&unix.ECHO != 0
}

// publicKey is a file with a public key without a known private key.
func publicKey(t *testing.T) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	b, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "public.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: b}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

package program

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"soku/internal/wire/native"
	"soku/test/built"
	"soku/test/tier"
)

// Exit codes of docs/reference/exit-codes.md.
const (
	broken      = 6
	interrupted = 130
)

// copying begins to write many small files into folder, by a copy with these arguments, and
// returns the copy when the first ones are there.
func copying(t *testing.T, soku, folder string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(soku, append([]string{"copy", "--stage", "write", "--files", "200000", "--file-size", "1kB", "--sync", "off", "--no-save"}, args...)...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if files, _ := filepath.Glob(filepath.Join(folder, ".soku-copy-*", "write", "0", "1*")); len(files) > 0 {
			return c
		}
	}
	t.Fatal("the copy writes nothing")
	return nil
}

// exitCode waits for the end of a program.
func exitCode(t *testing.T, c *exec.Cmd) int {
	t.Helper()
	err := c.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode()
}

// wantEmpty waits until a folder has nothing in it.
func wantEmpty(t *testing.T, folder string) {
	t.Helper()
	var left []os.DirEntry
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		var err error
		if left, err = os.ReadDir(folder); err != nil {
			t.Fatal(err)
		} else if len(left) == 0 {
			return
		}
	}
	t.Errorf("%s has %v", folder, left)
}

func TestWhatAKilledCopyLeftIsRemovedByTheNextOne(t *testing.T) {
	tier.SpendsSeconds(t)
	soku, to := built.Program(t), t.TempDir()
	c := copying(t, soku, to, "--to", to)
	_ = c.Process.Kill()
	exitCode(t, c)
	if left, err := os.ReadDir(to); err != nil || len(left) != 1 {
		t.Fatalf("the killed copy left %v, %v", left, err)
	}
	if _, err := client(t, soku, "copy", "--to", to, "--disk", t.TempDir(), "--files", "1", "--file-size", "1kB", "--no-save"); err != nil {
		t.Fatal(err)
	}
	wantEmpty(t, to)
}

func TestAnInterruptedCopyLeavesNothing(t *testing.T) {
	tier.SpendsSeconds(t)
	soku, to := built.Program(t), t.TempDir()
	c := copying(t, soku, to, "--to", to)
	_ = c.Process.Signal(os.Interrupt)
	if code := exitCode(t, c); code != interrupted {
		t.Errorf("status %d", code)
	}
	if left, err := os.ReadDir(to); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

func TestAServerRemovesTheFilesOfAClientThatIsKilled(t *testing.T) {
	tier.SpendsSeconds(t)
	soku, root := built.Program(t), t.TempDir()
	at, _ := serving(t, soku, "--copy-max", "0", "--copy-root", root)
	c := copying(t, soku, root, at)
	_ = c.Process.Kill()
	exitCode(t, c)
	wantEmpty(t, root)
	if _, err := client(t, soku, "copy", at, "--disk", t.TempDir(), "--files", "1", "--file-size", "1kB", "--no-save"); err != nil {
		t.Error("the next copy:", err)
	}
}

// A client that is killed while events wait unread leaves a reset, which the server cannot tell from a
// cut of the path.
func TestAClientThatIsKilledDoesNotKeepOthersWaiting(t *testing.T) {
	tier.SpendsSeconds(t)
	soku, root := built.Program(t), t.TempDir()
	at, _ := serving(t, soku, "--copy-max", "0", "--copy-root", root, "--exclusive")
	c := copying(t, soku, root, at)
	_ = c.Process.Signal(syscall.SIGSTOP)
	time.Sleep(native.Heartbeat + time.Second/2)
	_ = c.Process.Kill()
	killed := time.Now()
	exitCode(t, c)
	if _, err := client(t, soku, "latency", at, "-c", "1", "--no-save"); err != nil {
		t.Fatal(err)
	}
	if waited := time.Since(killed); waited > native.ReattachTimeout/2 {
		t.Errorf("the next client waited for %v", waited)
	}
	wantEmpty(t, root)
}

func TestAServerThatIsStoppedOrKilledLeavesNothingToTheNextOne(t *testing.T) {
	tier.SpendsSeconds(t)
	soku := built.Program(t)
	for _, stop := range []os.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		root := t.TempDir()
		at, server := serving(t, soku, "--copy-max", "0", "--copy-root", root)
		c := copying(t, soku, root, at)
		_ = server.Signal(stop)
		if code := exitCode(t, c); code != broken {
			t.Errorf("%s: the client ended with status %d", stop, code)
		}
		_, _ = server.Wait()
		if stop == syscall.SIGKILL {
			if left, err := os.ReadDir(root); err != nil || len(left) != 1 {
				t.Errorf("the killed server left %v, %v", left, err)
			}
			serving(t, soku, "--copy-max", "0", "--copy-root", root)
		}
		wantEmpty(t, root)
	}
}

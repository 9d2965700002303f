package process_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"soku/internal/process"
)

// role is the environment variable that makes this program the command of a test.
const role = "SOKU_TEST_ROLE"

// play plays a role: a parent starts a child, which keeps the parent's output open.
func play(name string) {
	switch name {
	case "parent":
		child := exec.Command(os.Args[0]) //nolint:noctx // the test ends it
		child.Env, child.Stdout = append(os.Environ(), role+"=child"), os.Stdout
		if err := child.Run(); err != nil {
			os.Exit(1)
		}
	case "child":
		fmt.Println("started")
		time.Sleep(time.Minute)
	}
}

func TestKillingAGroupEndsWhatTheCommandStarted(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), role+"=parent")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	group := process.NewGroup(cmd)
	if err := group.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal("the child did not start")
	}
	begin := time.Now()
	if err := group.Kill(); err != nil {
		t.Error(err)
	}
	for lines.Scan() { // until no process has the output open
	}
	if err := group.Wait(); err == nil || time.Since(begin) > 30*time.Second {
		t.Errorf("after %s: %v", time.Since(begin), err)
	}
}

func TestAShellGetsQuotesAsTheyAre(t *testing.T) {
	want := "a  b c"
	if runtime.GOOS == "windows" { // whose echo is a part of the shell and writes quotes
		want = `"a  b" "c"`
	}
	create := func(name string, args ...string) *exec.Cmd { return exec.CommandContext(t.Context(), name, args...) }
	for _, text := range []string{`echo "a  b" "c"`, `echo ignored&& echo "a  b" "c"`} {
		out, err := process.ShellCommand(create, nil, text).Output()
		if line := process.LastLine(string(out)); err != nil || strings.TrimSpace(line) != want {
			t.Errorf("%s: %q, %v", text, out, err)
		}
	}
	if runtime.GOOS != "windows" {
		return
	}
	out, err := process.ShellCommand(create, []string{"cmd.exe", "/C"}, `echo "a  b" "c"`).Output()
	if line := process.LastLine(string(out)); err != nil || strings.TrimSpace(line) != want {
		t.Errorf("cmd.exe: %q, %v", out, err)
	}
}

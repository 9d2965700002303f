package cli

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"soku/test/output"
)

// TestMain makes the test binary the program itself when it is called soku, so
// that scripts run whole processes.
func TestMain(m *testing.M) {
	testscript.Main(leakChecked{m}, map[string]func(){
		"soku": func() { os.Exit(Run(Real())) },
	})
}

// leakChecked fails when the tests leave a goroutine behind.
type leakChecked struct{ tests *testing.M }

func (l leakChecked) Run() int {
	if err := os.Setenv("SOKU_LANG", "en"); err != nil { // of the programs that tests start, whatever LANG is here
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := l.tests.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// TestScripts runs testdata/script/*.txtar, each in a folder and with a data
// folder of its own. In addition to the commands of testscript there are:
//
//	server          start "soku server" on a free port of 127.0.0.1; its port is $PORT
//	halt SIGNAL     run the rest of the line in the background, send it INT, HUP or
//	                KILL when its stderr has a line with a bracket, and wait
//	status CODE ARGS     run soku, which must exit with that code
//	fill VARIABLE FILE   replace $VARIABLE in FILE
//	lab FILE        replace $LAB in FILE by a name that no other lab has, not even
//	                one that a killed run of the tests left, and take that lab
//	                down at the end whatever happens
//
// and the condition [root].
func TestScripts(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) { // under nohup. What this process catches has its default in programs that it starts
		caught := make(chan os.Signal, 1)
		signal.Notify(caught, syscall.SIGHUP)
		t.Cleanup(func() { signal.Stop(caught) })
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("SOKU_DATA", filepath.Join(e.WorkDir, "data"))
			e.Setenv("SOKU_RUN", filepath.Join(e.WorkDir, "run"))
			e.Setenv("GORACE", os.Getenv("GORACE"))
			return nil
		},
		Condition: func(cond string) (bool, error) { return cond == "root" && os.Geteuid() == 0, nil },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"server": scriptServer, "halt": scriptHalt, "status": scriptStatus, "fill": scriptFill, "lab": scriptLab,
		},
	})
}

func scriptServer(ts *testscript.TestScript, _ bool, args []string) {
	cmd := exec.Command(scriptSoku(ts), append([]string{"server", "--listen", "127.0.0.1:0", "--quiet"}, args...)...)
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Defer(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line := make([]byte, 200)
	n, err := out.Read(line)
	ts.Check(err)
	_, rest, _ := strings.Cut(string(line[:n]), "127.0.0.1:")
	port, _, _ := strings.Cut(rest, " ")
	ts.Setenv("PORT", port)
}

// scriptSoku is the test binary under the name soku, as scripts find it.
func scriptSoku(ts *testscript.TestScript) string {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		for _, name := range []string{"soku", "soku.exe"} {
			if path := filepath.Join(dir, name); exists(path) {
				return path
			}
		}
	}
	ts.Fatalf("soku is not in PATH")
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// scriptHalt ends a campaign in the middle: when it has said that a trial is done.
func scriptHalt(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: halt INT|HUP|KILL argument...")
	}
	cmd := exec.Command(scriptSoku(ts), args[1:]...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), scriptEnv(ts)
	errs := &output.Buffer{}
	cmd.Stderr = errs
	ts.Check(cmd.Start())
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	deadline := time.After(30 * time.Second)
	for trial := errs.Has("] "); ; {
		select {
		case <-trial:
			trial = nil
			ts.Check(cmd.Process.Signal(map[string]os.Signal{"INT": os.Interrupt, "HUP": syscall.SIGHUP, "KILL": os.Kill}[args[0]]))
		case <-done:
			ts.Logf("[status %d]\n%s", cmd.ProcessState.ExitCode(), errs)
			ts.Check(os.WriteFile(ts.MkAbs("stopped"), []byte(errs.String()), 0o644))
			ts.Setenv("STATUS", strings.TrimSpace(cmd.ProcessState.String()))
			return
		case <-deadline:
			_ = cmd.Process.Kill()
			<-done
			ts.Fatalf("did not end: %s", errs)
		}
	}
}

// scriptStatus runs soku, which must exit with a code.
func scriptStatus(ts *testscript.TestScript, _ bool, args []string) {
	var exit *exec.ExitError
	code := 0
	if err := ts.Exec("soku", args[1:]...); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if args[0] != strconv.Itoa(code) {
		ts.Fatalf("soku %s: exit code %d, want %s", strings.Join(args[1:], " "), code, args[0])
	}
}

func scriptEnv(ts *testscript.TestScript) []string {
	env := os.Environ()
	for _, name := range []string{"PATH", "HOME", "SOKU_DATA", "SOKU_RUN", "TMPDIR"} {
		env = append(env, name+"="+ts.Getenv(name))
	}
	return env
}

func scriptFill(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: fill VARIABLE FILE")
	}
	file := ts.MkAbs(args[1])
	b, err := os.ReadFile(file)
	ts.Check(err)
	ts.Check(os.WriteFile(file, []byte(strings.ReplaceAll(string(b), "$"+args[0], ts.Getenv(args[0]))), 0o644))
}

func scriptLab(ts *testscript.TestScript, neg bool, args []string) {
	name := fmt.Sprintf("script-%08x", rand.Uint32())
	ts.Setenv("LAB", name)
	scriptFill(ts, neg, append([]string{"LAB"}, args...))
	down := exec.Command(scriptSoku(ts), "lab", "down", name)
	down.Env = scriptEnv(ts)
	ts.Defer(func() {
		if out, err := down.CombinedOutput(); err != nil {
			ts.Logf("lab down: %v %s", err, out)
		}
	})
}

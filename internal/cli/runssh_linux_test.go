package cli

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"soku/internal/lab"
	"soku/test/output"
	"soku/test/sshd"
	"soku/test/tier"
)

// remoteNet is an emulated network in which a client reaches hosts a and b by ssh only
// through the host jump.
type remoteNet struct {
	*sshd.Keys
	lab  *lab.Lab
	soku string
	data string
	tmp  string
	home map[string]*sshd.Host
}

func newRemoteNet(t *testing.T) *remoteNet {
	t.Helper()
	tier.NeedsRoot(t, "network namespaces")
	tier.WatchesTheClock(t) // programs of four hosts share this one
	n := &remoteNet{Keys: sshd.NewKeys(t), data: t.TempDir(), home: map[string]*sshd.Host{}}
	var err error
	if n.soku, err = exec.LookPath("soku"); err != nil {
		t.Fatal(err)
	}
	// Not below the folder of the test, whose name is too long for the path of a socket.
	if n.tmp, err = os.MkdirTemp("", "ssh"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(n.tmp) })
	text := fmt.Sprintf("lab: ssh-%08x\nhosts: {client: , jump: , a: , b: }\nrouters: {r: }\nlinks: [{from: client, to: r}, {from: jump, to: r}, {from: a, to: r}, {from: b, to: r}]\n", rand.Uint32())
	topology, err := lab.Parse("topology.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if n.lab, err = lab.Up(t.Context(), topology, lab.Options{Executable: n.soku, RunDir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.lab.Down(context.Background()); err != nil {
			t.Error(err)
		}
	})
	jump := n.address(t, "jump")
	n.serve(t, "jump", nil)
	for _, name := range []string{"a", "b"} {
		n.serve(t, name, []string{"ProxyJump jump"}, "AllowUsers *@"+jump)
	}
	return n
}

// serve starts the sshd of a host, which the client reaches by lines of its configuration.
func (n *remoteNet) serve(t *testing.T, name string, through []string, only ...string) {
	t.Helper()
	address := n.address(t, name)
	h := n.Start(t, address, func(ctx context.Context, argv ...string) *exec.Cmd { return n.lab.Command(ctx, name, argv...) }, only...)
	n.home[name] = h
	n.Alias(t, name, append(through, "HostName "+address, fmt.Sprint("Port ", h.Port), n.Identity())...)
}

// cut ends all connections, which lead through the host jump.
func (n *remoteNet) cut(t *testing.T) {
	t.Helper()
	if err := exec.CommandContext(t.Context(), "pkill", "-KILL", "-P", fmt.Sprint(n.home["jump"].Pid)).Run(); err != nil {
		t.Error(err)
	}
}

func (n *remoteNet) address(t *testing.T, host string) string {
	t.Helper()
	a, err := n.lab.Topology.Address(host, "")
	if err != nil {
		t.Fatal(err)
	}
	return a.String()
}

// run makes soku run of a plan, on the client.
func (n *remoteNet) run(t *testing.T, plan string, flags ...string) (*exec.Cmd, *output.Buffer) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "plan.yaml")
	if err := os.WriteFile(file, []byte(plan), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := n.lab.Command(context.Background(), "client", append([]string{n.soku, "run", file}, flags...)...)
	cmd.Env = append(os.Environ(), "SOKU_DATA="+n.data, "SOKU_SSH="+n.SSH(), "TMPDIR="+n.tmp)
	errs := &output.Buffer{}
	cmd.Stderr, cmd.WaitDelay = errs, 10*time.Second
	return cmd, errs
}

// start starts a command, which ends with the test at the latest.
func start(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() { // what it waits for
			all, _ := exec.CommandContext(context.Background(), "ps", "-eo", "pid,ppid,stat,wchan:24,etimes,args").Output()
			t.Logf("processes:\n%s", all)
		}
		_ = cmd.Process.Kill()
	})
}

// left are files on the hosts and the client, and processes that were started for them.
func (n *remoteNet) left(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, dir := range []string{n.home["a"].Home, n.home["b"].Home, n.tmp} {
		_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err == nil && path != dir && path != filepath.Join(dir, "tmp") {
				all = append(all, path)
			}
			return nil
		})
	}
	commands, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range commands {
		argv, _ := os.ReadFile(file)
		for _, of := range []string{n.home["a"].Home, n.home["b"].Home, n.Config} {
			if bytes.Contains(argv, []byte(of)) {
				all = append(all, string(bytes.ReplaceAll(argv, []byte{0}, []byte(" "))))
			}
		}
	}
	return all
}

func (n *remoteNet) nothingLeft(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for len(n.left(t)) > 0 {
		if time.Now().After(deadline) {
			t.Fatalf("left: %q", n.left(t))
		}
		time.Sleep(20 * time.Millisecond)
	}
}

const remotePlan = `campaign: remote
endpoints:
  a: {ssh: a}
  b: {ssh: b, port: 9000}
factors:
  path: [{name: out, to: a}, {name: across, from: b, to: a}, {name: back, from: a, to: b}]
tests: {rtt: {test: latency, count: 50}}
rounds: 2
`

func TestACampaignRunsOnHostsBehindAJumpHost(t *testing.T) {
	t.Parallel()
	n := newRemoteNet(t)
	disk := t.TempDir() // hosts of an emulated network have one
	plan := strings.NewReplacer(
		"ssh: a}", "ssh: a, copy_root: "+disk+"}", "ssh: b,", "ssh: b, copy_root: "+disk+",",
		"  b: {ssh: b,", "  twin: {ssh: a, copy_root: "+disk+"}\n  b: {ssh: b, copy_root: "+disk+",", "factors:\n  path: [", "factors:\n  path: [{name: twin, to: twin}, ",
		"count: 50}", "count: 50}, files: {test: copy, file_size: 64Ki, disk_folder: "+disk+"}",
	).Replace(remotePlan)
	cmd, errs := n.run(t, plan)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, errs)
	}
	for _, want := range []string{
		`preparing 3 hosts by ssh`, `warning: port 7658 of (a|twin) is taken: its server listens on the random port \d+`, `a: linux/\w+, soku copied \(.*\), server on port \d+, clock [+−].* \(± .*s\)`, `b: linux/\w+, .* on port 9000`, `16 of 16 trials done;`,
	} {
		if !regexp.MustCompile(want).MatchString(errs.String()) {
			t.Errorf("no %q in %s", want, errs)
		}
	}
	// At once: soku waits until the hosts are as they were.
	if left := n.left(t); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	journals, _ := filepath.Glob(filepath.Join(n.data, "campaigns", "*", "journal.ndjson"))
	if len(journals) != 1 {
		t.Fatalf("journals %v", journals)
	}
	journal, err := os.ReadFile(journals[0])
	if err != nil {
		t.Fatal(err)
	}
	for host, trials := range map[string]int{"a": 8, "b": 4} {
		if got := strings.Count(string(journal), `"server":{"name":"`+host+`","address":"`+n.address(t, host)+`"`); got < trials {
			t.Errorf("%d results against %s", got, host)
		}
	}
	if left, err := os.ReadDir(disk); err != nil || len(left) > 0 {
		t.Errorf("the copies left %v, %v", left, err)
	}
}

func TestASokuThatIsStoppedLeavesNothingOnTheHosts(t *testing.T) {
	t.Parallel()
	n := newRemoteNet(t)
	plan := strings.Replace(remotePlan, "count: 50}", "duration: 1s}", 1) + "repeats: 100\n"
	for _, signal := range []os.Signal{unix.SIGKILL, unix.SIGINT} {
		cmd, errs := n.run(t, plan)
		start(t, cmd)
		errs.Await(t, "] ") // a trial is done, and the next one runs
		if left := n.left(t); len(left) == 0 {
			t.Error("nothing is on the hosts while the campaign runs")
		}
		_ = cmd.Process.Signal(signal)
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); signal == unix.SIGINT && code != 130 {
			t.Errorf("exit code %d: %s", code, errs)
		}
		n.nothingLeft(t)
	}
}

func TestACampaignGoesOnAfterALostConnection(t *testing.T) {
	t.Parallel()
	n := newRemoteNet(t)
	cmd, errs := n.run(t, strings.Replace(remotePlan, "count: 50}", "duration: 500ms}", 1))
	start(t, cmd)
	errs.Await(t, "[1/6] ")
	n.cut(t) // in the middle of a trial
	_ = cmd.Wait()
	if text := errs.String(); !strings.Contains(text, "6 of 6 trials done;") || strings.Count(text, "server on port 7658") != 1 {
		t.Errorf("exit code %d: %s", cmd.ProcessState.ExitCode(), text)
	}
	journals, _ := filepath.Glob(filepath.Join(n.data, "campaigns", "*", "journal.ndjson"))
	if journal, err := os.ReadFile(journals[0]); err != nil || !bytes.Contains(journal, []byte(`"code":"campaign.host_gone"`)) || !bytes.Contains(journal, []byte(`"repeats":"`)) {
		t.Errorf("no lost trial and its repeat in the journal (%v): %s", err, errs)
	}
	n.nothingLeft(t)
}

func TestTrialsOfHostsThatStayAwayAreResumed(t *testing.T) {
	t.Parallel()
	n := newRemoteNet(t)
	plan := strings.Replace(remotePlan, "count: 50}", "duration: 500ms}", 1)
	cmd, errs := n.run(t, plan, "--patience", "1s")
	start(t, cmd)
	errs.Await(t, "[1/6] ")
	_ = unix.Kill(n.home["jump"].Pid, unix.SIGSTOP) // takes no further connections
	n.cut(t)
	_ = unix.Kill(n.home["jump"].Pid, unix.SIGKILL)
	_ = cmd.Wait()
	if code, text := cmd.ProcessState.ExitCode(), errs.String(); code != 10 || strings.Contains(text, "failed;") {
		t.Errorf("exit code %d: %s", code, text)
	}
	n.serve(t, "jump", nil)
	cmd, errs = n.run(t, plan, "--resume")
	if err := cmd.Run(); err != nil || !strings.Contains(errs.String(), "6 of 6 trials done;") {
		t.Errorf("%v: %s", err, errs)
	}
	n.nothingLeft(t)
}

func TestAllHostsThatCannotBeUsedAreShownAtOnce(t *testing.T) {
	t.Parallel()
	n := newRemoteNet(t)
	n.Alias(t, "stranger", "ProxyJump jump", "HostName "+n.address(t, "a"), fmt.Sprint("Port ", n.home["a"].Port), n.OtherIdentity(t))
	n.Alias(t, "unknown", "ProxyJump jump", "HostName "+n.address(t, "a"), fmt.Sprint("Port ", n.home["a"].Port), n.Identity(), "UserKnownHostsFile /dev/null")
	cmd, errs := n.run(t, `campaign: remote
endpoints: {good: {ssh: a}, key: {ssh: stranger}, trust: {ssh: unknown}, name: {ssh: admin@no-such-host.invalid}, closed: {ssh: b, server: running}}
factors: {path: [{name: v, to: good}, {name: w, to: key}, {name: x, to: trust}, {name: y, to: name}, {name: z, from: good, to: closed}]}
tests: {rtt: {test: latency, count: 5}}
`)
	_ = cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != 5 {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{
		"soku: key: ssh stranger: ", "Permission denied (publickey); soku cannot type a password",
		"soku: trust: ssh unknown: the key of the host is not known; connect once by hand",
		"soku: name: ssh admin@no-such-host.invalid: ssh: Could not resolve hostname",
		"soku: good → closed: connect " + n.address(t, "b") + ":7658: refused",
		"4 checks before the first trial failed; nothing was measured",
	} {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("no %q in %s", want, errs)
		}
	}
	n.nothingLeft(t)
}

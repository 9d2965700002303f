package cli

import (
	"strings"
	"testing"
)

func TestALinkNamedIperf3IsIperf3(t *testing.T) {
	sys, out, errs := fakeSystem(t, "-v")
	sys.Called = called("/usr/local/bin/iperf3")
	if code := Run(sys); code != 0 || !strings.HasPrefix(out.String(), "iperf 3.") || errs.String() != "" {
		t.Errorf("status %d, %q %q", code, out.String(), errs.String())
	}
	sys, out, errs = fakeSystem(t, "tcp", "vm2")
	sys.Called = called(`iperf3.exe`)
	if code := Run(sys); code != 1 || !strings.Contains(errs.String(), `"tcp" belongs to no option`) || out.String() != "" {
		t.Errorf("status %d, %q %q", code, out.String(), errs.String())
	}
}

func TestADaemonIsTheSameProgramStartedAnew(t *testing.T) {
	stdout, stderr, code := soku(t, "iperf3", "-D", "-c", "h")
	if code != 1 || stdout != "" || !strings.Contains(stderr, "server only; -D is") {
		t.Errorf("status %d, %q %q", code, stdout, stderr)
	}
	sys, _, errs := fakeSystem(t, "iperf3", "-s", "-D")
	sys.Executable = func() (string, error) { return "/nonexistent/soku", nil }
	if code := Run(sys); code != 1 || !strings.Contains(errs.String(), "unable to become a daemon") {
		t.Errorf("status %d, %q", code, errs.String())
	}
}

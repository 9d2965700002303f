package cli

import (
	"errors"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"

	"soku/test/freeport"
	"soku/test/output"
	"soku/test/tier"
)

func TestALinkOfItsNameIsNtttcp(t *testing.T) {
	sys, out, _ := fakeSystem(t, "-h")
	sys.Called = "ntttcp"
	if code := Run(sys); code != 0 || !strings.Contains(out.String(), "-m N,CPU,ADDR") {
		t.Errorf("status %d, %s", code, out)
	}
}

func TestNtttcpRefusesInSokusWay(t *testing.T) {
	for _, line := range []string{"-r -s", "-s vm2 -t x", "--nothing"} {
		_, errs, code := soku(t, append([]string{"ntttcp"}, strings.Fields(line)...)...)
		if code != 2 || !strings.HasPrefix(errs, "soku: ntttcp: ") {
			t.Errorf("%s: status %d, %s", line, code, errs)
		}
	}
}

func TestNtttcpBecomesADaemonOnce(t *testing.T) {
	sys, _, errs := fakeSystem(t, "ntttcp", "-Dr", "-t", "1")
	var started []string
	sys.Detach = func(_ string, args ...string) error { started = args; return nil }
	if code := Run(sys); code != 0 {
		t.Fatalf("status %d, %s", code, errs)
	}
	if want := []string{"ntttcp", "-Dr", "-t", "1"}; !reflect.DeepEqual(started, want) {
		t.Errorf("started with %q, want %q", started, want)
	}
	sys, _, _ = fakeSystem(t, "ntttcp", "-Ds", "127.0.0.1", "-p", strconv.Itoa(freeport.Row(t, 2)+1), "-t", "1")
	sys.Getenv = func(name string) string { return map[string]string{detachedName: "1"}[name] }
	sys.Detach = func(string, ...string) error { return errors.New("again") }
	if code := Run(sys); code != 4 { // a closed port
		t.Errorf("the process in the background ends with status %d", code)
	}
}

func TestATrialAgainstTheOwnNtttcp(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	port := strconv.Itoa(freeport.Row(t, 2) + 1) // and the one below for the control connection
	receiver, _, _ := fakeSystem(t, "ntttcp", "-r", "127.0.0.1", "-P", "1", "-p", port, "-t", "1")
	text := &output.Buffer{}
	receiver.Stdout, receiver.Stderr = text, text
	var codes sync.WaitGroup
	code := -1
	codes.Go(func() { code = Run(receiver) })
	text.Await(t, "threads created")
	stdout, stderr, sent := soku(t, "tcp", "127.0.0.1", "--via", "ntttcp", "-p", port, "-t", "1s", "-P", "2", "--no-save")
	codes.Wait()
	if sent != 0 || code != 0 || !strings.Contains(stdout, "goodput") || !strings.Contains(stdout, "does not report") {
		t.Errorf("sender: status %d, %s%s\nreceiver: status %d, %s", sent, stdout, stderr, code, text)
	}
	if !strings.Contains(text.String(), "#####  Totals:  #####") {
		t.Errorf("the receiver has no figures:\n%s", text)
	}
	stdout, stderr, sent = soku(t, "tcp", "127.0.0.1", "--via", "ntttcp", "-R", "--no-save")
	if sent != 2 || !strings.Contains(stderr, "only receives") {
		t.Errorf("reverse: status %d, %s%s", sent, stdout, stderr)
	}
}

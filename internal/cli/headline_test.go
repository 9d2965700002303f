package cli

import (
	"regexp"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/text"
	"soku/test/tier"
)

// lastLine is the last line of an output.
func lastLine(out string) string {
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	return lines[len(lines)-1]
}

func TestTheLastLineOfATestIsItsFigure(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	addr := startServer(t, nil)
	for args, figure := range map[string]string{
		"tcp -t 200ms": `[0-9.]+ [GMT]bit/s`, "tcp -t 200ms -P 2 --no-save": `[0-9.]+ [GMT]bit/s`, "udp -t 200ms": `[0-9.]+ [GMk]bit/s.*`,
		"latency -c 10": `[0-9.]+ .s`, "latency -t 200ms": `[0-9.]+ .s( \(p99 [0-9.]+ .s\))?`, "connect -c 10": `\d+ connections/s .*`,
	} {
		sys, stdout, errs := fakeSystem(t, append(strings.Fields(args), addr)...)
		sys.StdoutWidth = func() int { return 60 }
		code := Run(sys)
		last := regexp.MustCompile(`^result +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d, [a-z]+ .* → .*: ` + figure + `$`)
		if code != 0 || !last.MatchString(lastLine(stdout.String())) {
			t.Errorf("%s: status %d, %s\n%s", args, code, stdout, errs)
		}
		sys.Args = append(sys.Args, "--brief")
		stdout.Reset()
		if code := Run(sys); code != 0 || strings.Count(stdout.String(), "\n") != 1 || !last.MatchString("result "+strings.TrimSuffix(stdout.String(), "\n")) {
			t.Errorf("%s: status %d, %q\n%s", args, code, stdout, errs)
		}
	}
	for _, args := range []string{"tcp --json", "tcp --explain", "latency --rows", "latency --table ethr"} {
		if out, errs, code := soku(t, append(strings.Fields(args), addr, "--brief", "-t", "200ms")...); code != 2 || out != "" || !strings.Contains(errs, "none of the others can be") {
			t.Errorf("%s: status %d, %s%s", args, code, out, errs)
		}
	}
}

func TestHostsOfOneNameAreToldApart(t *testing.T) {
	host := func(name string) *measure.Host {
		return &measure.Host{Facts: measure.Facts{Hostname: name, OS: "linux", Arch: "amd64"}}
	}
	for _, c := range []struct{ client, server, at, want string }{
		{"vm", "vm", "10.0.0.2", "client      vm (10.0.0.1), linux/amd64\nserver      vm (10.0.0.2), linux/amd64\n"},
		{"vm", "vm2", "10.0.0.2", "client      vm, linux/amd64\nserver      vm2, linux/amd64\n"},
		{"vm", "vm", "10.0.0.1", "client      vm, linux/amd64\nserver      vm, linux/amd64\n"}, // one host
	} {
		r := &measure.Result{Test: measure.TestTCP}
		r.Hosts.Client, r.Hosts.Server = host(c.client), host(c.server)
		r.Path.Client.Address, r.Path.Server.Address = "10.0.0.1", c.at
		var out strings.Builder
		printSummary(text.English(), &out, 0, r)
		if !strings.Contains(out.String(), c.want) {
			t.Errorf("no %q in\n%s", c.want, out.String())
		}
	}
}

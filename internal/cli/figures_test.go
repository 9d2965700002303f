package cli

import (
	"strings"
	"testing"

	"soku/test/tier"
)

// A test that moved little is a test: it is shown and stored.
func TestATinyAmountIsShownAndStored(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	addr := startServer(t, nil)
	for _, c := range []struct{ args, want string }{
		{"tcp " + addr + " -n 10", "10 B received"},
		{"udp " + addr + " -n 10", "0 of 1 lost"},
		{"latency " + addr + " -c 1", "1 of 1, 0 lost"},
		{"connect " + addr + " -c 1", "1 accepted by the server"},
	} {
		sys, out, errs := fakeSystem(t, strings.Fields(c.args)...)
		if code := Run(sys); code != 0 || !strings.Contains(out.String(), c.want) || !strings.Contains(out.String(), "soku show ") {
			t.Errorf("%s: status %d, %s%s", c.args, code, out, errs)
		}
		if strings.Contains(out.String(), " 0.000 bit/s") || strings.Contains(out.String(), " 0/s") {
			t.Errorf("%s: a rate of zero: %s", c.args, out)
		}
		out.Reset()
		sys.Args = []string{"show"}
		if code := Run(sys); code != 0 || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: show: status %d, %s%s", c.args, code, out, errs)
		}
	}
}

func TestOptionsThatMakeNoSenseAreUsageErrors(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"tcp 192.0.2.1 -b 100", "did you mean 100M?"},
		{"server --max-rate 10", "did you mean 10M?"},
		{"latency 192.0.2.1 -P 0", "flows 0: out of range; allowed: 1..256"},
		{"trace 192.0.2.1 -P 0", "flows 0: out of range; allowed: 1..256"},
		{"tcp 192.0.2.1 -R --bidir", "--reverse and --bidir set direction to different values"},
		{"tcp 192.0.2.1 --direction forward -R", "--direction and --reverse set direction to different values"},
		{"tcp 192.0.2.1 -4 -6", "--ipv4 and --ipv6 set ip-version to different values"},
		{"tcp 10.77.0.300", "\"10.77.0.300\" is not an IPv4 address"},
		{"ping 10.77.0.300", "\"10.77.0.300\" is not an IPv4 address"},
		{"tcp 2001:db8::x", "\"2001:db8::x\" is not an IPv6 address"},
		{"help nosuch", "unknown test or command \"nosuch\""},
		{"help tpc", "tcp"},
		{"help tcp nosuch", "unknown test or command \"nosuch\""},
		{"help lab nosuch", "unknown test or command \"nosuch\""},
		{"lab nosuch", "it has down, exec, status, up"},
		{"show one two", "2 arguments given (the last is \"two\")"},
		{"rm", "no argument given; usage: soku rm RESULT..."},
		{"ls nosuch", "1 argument given (\"nosuch\"); usage: soku ls [flags]; see: soku ls --help"},
	} {
		out, errs, code := soku(t, strings.Fields(c.args)...)
		if code != 2 || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%s: status %d, %s%s", c.args, code, out, errs)
		}
	}
}

package cli

import (
	"strings"
	"testing"
)

func TestACommandIsFoundByTheNameItIsListedUnder(t *testing.T) {
	sys, _, _ := fakeSystem(t)
	for _, c := range commands {
		if made := c.make(sys).Name(); made != c.name {
			t.Errorf("%q is listed as %q", made, c.name)
		}
	}
}

func TestOnlyTheCommandThatIsNamedIsMade(t *testing.T) {
	for _, c := range commands {
		sys, _, _ := fakeSystem(t, c.name, "--help")
		if made := newRoot(sys).Commands(); len(made) != 1 || made[0].Name() != c.name {
			t.Errorf("for %s: %d commands", c.name, len(made))
		}
	}
	for _, args := range [][]string{nil, {"--help"}, {"help", "tcp"}, {"completion", "bash"}, {"__complete", "tc"}, {"tpc"}} {
		sys, _, _ := fakeSystem(t, args...)
		if made := newRoot(sys).Commands(); len(made) < len(commands) {
			t.Errorf("for %q: %d commands of %d", args, len(made), len(commands))
		}
	}
	out, _, code := soku(t, "__complete", "tc")
	if code != 0 || !strings.HasPrefix(out, "tcp") {
		t.Errorf("completion gives %d, %q", code, out)
	}
}

package cli

import (
	"reflect"
	"strings"
	"testing"
)

func TestCommandLinesAreSplitAsAShellDoes(t *testing.T) {
	for line, want := range map[string][]string{
		`tcp vm2 -P 16`:              {"tcp", "vm2", "-P", "16"},
		"  tcp\tvm2\n":               {"tcp", "vm2"},
		`tcp "my host" -t '1 s'`:     {"tcp", "my host", "-t", "1 s"},
		`a\ b "c\"d" 'e\f' --x=""""`: {"a b", `c"d`, `e\f`, "--x="},
		`''`:                         {""},
		``:                           nil,
	} {
		got, err := splitWords(line)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q %v, want %q", line, got, err, want)
		}
	}
	for _, line := range []string{`tcp "vm2`, `tcp 'vm2`, `tcp vm2\`} {
		if words, err := splitWords(line); err == nil {
			t.Errorf("%s: %q", line, words)
		}
	}
}

func TestCommandsThatCannotBeComparedAreRejectedBeforeAnythingIsSent(t *testing.T) {
	for want, args := range map[string][]string{
		"expected two or more command lines":                {"tcp vm2"},
		"tcp and udp are different tests":                   {"tcp vm2", "udp vm2"},
		`"tcp vm2" and "tcp vm2" measure the same`:          {"tcp vm2", "soku tcp vm2"},
		`"tcp vm2 --streams 1" measure the same`:            {"tcp vm2", "tcp vm2 --streams 1"},
		`"tcp vm2 -P x": --streams "x": not a whole number`: {"tcp vm2", "tcp vm2 -P x"},
		"did you mean --streams? See: soku tcp --help":      {"tcp vm2", "tcp vm2 --stream 3"},
		"no host":                                           {"tcp vm2", "tcp"},
		`unknown test "run"`:                                {"tcp vm2", "run plan.yaml"},
		"--json does not say what is measured":              {"tcp vm2", "tcp vm2 -P 2 --json"},
		"--token-file does not say what is measured":        {"tcp vm2", "tcp vm3 --token-file x"},
		"--help does not say what is measured":              {"tcp vm2", "tcp --help"},
		"one receiver reads the bytes and another discards": {"tcp vm2", "tcp vm2 --rx read"},
		"--reverse and --bidir":                             {"tcp vm2", "tcp vm2 -R --bidir"},
		"--rounds 1 is not in the range":                    {"tcp vm2", "tcp vm3", "--rounds", "1"},
		"the command line is empty":                         {"tcp vm2", "soku"},
		"a quotation mark is not closed":                    {"tcp vm2", `tcp "vm3`},
		"the command lines make no plan":                    {"tcp vm2", "tcp http://vm2/"},
	} {
		out, errs, code := soku(t, append([]string{"versus"}, args...)...)
		if code != 2 || !strings.Contains(errs, want) || out != "" {
			t.Errorf("%q: status %d, %s%s; want %q", args, code, out, errs, want)
		}
	}
}

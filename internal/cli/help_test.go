package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/text"
)

func TestManualPagesAreOfEveryCommandAndNameItsFlags(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	sys, _, errs := fakeSystem(t, "man", dir)
	if code := Run(sys); code != 0 {
		t.Fatalf("status %d, %s", code, errs)
	}
	for page, wants := range map[string][]string{
		"soku.1":        {".SH NAME\nsoku \\- Measure", ".SH OPTIONS\n", "\\-\\-version", "soku\\-tcp(1)", "soku\\-ls(1)", ".SH FILES"},
		"soku-tcp.1":    {".SH NAME\nsoku\\-tcp \\- Measure TCP goodput", "\\fB\\-P\\fR, \\fB\\-\\-streams\\fR int", "OPTIONS: NETWORK", "\n\\fB\\-\\-bidir\\fR\n", ".SH EXAMPLES"},
		"soku-lab-up.1": {"soku\\-lab(1)"},
	} {
		b, err := os.ReadFile(filepath.Join(dir, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(string(b), want) {
				t.Errorf("%s lacks %q:\n%s", page, want, b)
			}
		}
		if strings.Contains(string(b), sys.DataDir) {
			t.Errorf("%s names a folder of whoever wrote it:\n%s", page, b)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "soku-trial.1")); err == nil {
		t.Error("a hidden command has a page")
	}
}

func TestAMistypedFlagOrCommandHasASuggestion(t *testing.T) {
	for args, want := range map[string]string{
		"tcp 192.0.2.1 --stream 4":              "did you mean --streams?",
		"ls --campain x":                        "did you mean --campaign?",
		"tcp 192.0.2.1 --xyzzy":                 "see: soku tcp --help",
		"tcp 192.0.2.1 -P x":                    `--streams "x": not a whole number; see: soku tcp --help`,
		"tcp 192.0.2.1 -P 99999999999999999999": "out of range",
		"tcp 192.0.2.1 --no-delay=perhaps":      "neither true nor false",
		"connect 192.0.2.1 --request-rate x":    `--request-rate "x": not a number`,
		"catalog expressroute":                  `soku catalog has no command "expressroute"; it has search, show; see: soku catalog --help`,
		"report --json":                         "use --format json; see: soku report --help",
		"server -p 7000":                        "use --listen :PORT",
		"tcp -c 192.0.2.1":                      "use the host without a flag",
		"latency 192.0.2.1 -u":                  "use --protocol udp",
		"tpc 192.0.2.1":                         "did you mean tcp",
		"reprot":                                "did you mean report",
		"tpc 192.0.2.1 -P 4":                    "did you mean tcp",
		"-s":                                    "use soku server; see: soku --help",
		"-c 192.0.2.1":                          "use soku tcp HOST",
		"192.0.2.1":                             "measure to a host with: soku tcp 192.0.2.1",
		"vm2.example:7000 -P 4":                 "measure to a host with: soku tcp vm2.example:7000",
		"vm2":                                   "f it is a host: soku tcp vm2",
		"plan.yaml":                             "run it with: soku run plan.yaml",
	} {
		if _, errs, code := soku(t, strings.Fields(args)...); code != 2 || !strings.Contains(errs, want) {
			t.Errorf("%s: status %d, %s", args, code, errs)
		}
	}
}

// A flag that is named instead of a familiar one is a flag of that command, and the familiar one is not.
func TestWhatIsNamedInsteadOfAFamiliarFlagExists(t *testing.T) {
	root := Soku.newRoot(&System{Catalogue: text.English()})
	for _, f := range familiar {
		for _, name := range f.commands {
			cmd, _, err := root.Find([]string{name})
			if name == root.Name() {
				cmd, err = root, nil
			} else if cmd == root {
				err = errors.New("it is no command")
			}
			if err != nil {
				t.Errorf("%s: no such command: %v", name, err)
				continue
			}
			if flag, isFlag := strings.CutPrefix(strings.Fields(f.instead)[0], "--"); isFlag && cmd.Flags().Lookup(flag) == nil {
				t.Errorf("%s has no --%s", name, flag)
			}
			for _, other := range f.flags {
				if cmd.Flags().Lookup(other) != nil || len(other) == 1 && cmd.Flags().ShorthandLookup(other) != nil {
					t.Errorf("%s has %s itself", name, other)
				}
			}
		}
	}
}

func TestTheVersionIsACommandToo(t *testing.T) {
	flag, _, _ := soku(t, "--version")
	if out, errs, code := soku(t, "version"); code != 0 || out != flag || !strings.HasPrefix(out, "soku ") {
		t.Errorf("status %d, %q%s", code, out, errs)
	}
	if out, _, _ := soku(t, "--help"); strings.Contains(out, "\n  version") {
		t.Error("the help lists it next to --version")
	}
}

func TestHelpHasPagesOfTheReference(t *testing.T) {
	help, _, _ := soku(t, "--help")
	for topic, begins := range map[string]string{"plan": "# Plan\n", "rules": "# Rules for pipelines\n", "metrics": "# Metrics\n", "findings": "# Findings\n"} {
		out, errs, code := soku(t, "help", topic)
		if code != 0 || !strings.HasPrefix(out, begins) || strings.Contains(out, "](") || strings.Contains(out, "<!--") {
			t.Errorf("%s: status %d, %.200s%s", topic, code, out, errs)
		}
		if !strings.Contains(help, "\n  "+topic+" ") {
			t.Errorf("the help does not list the topic %s", topic)
		}
	}
	if out, _, code := soku(t, "help", "rules"); code != 0 || !strings.Contains(out, "`CAMPAIGN` is what soku compare takes") {
		t.Errorf("a link has lost its text: %.600s", out)
	}
	if out, _, _ := soku(t, "help", "ls"); !strings.Contains(out, "\n  soku ls [flags]") {
		t.Errorf("help about a command is %s", out)
	}
}

func TestCommandsAreInGroupsOfWhatTheyAreFor(t *testing.T) {
	out, _, _ := soku(t, "--help")
	at := 0
	for _, want := range []string{"\nMeasure a path:\n", "  tcp ", "\nCompare choices:\n", "  run ", "\nResults:\n", "  ls ", "\nDrop-in replacements:\n", "  iperf3 ", "\nAdditional Commands:\n", "  man "} {
		n := strings.Index(out[at:], want)
		if n < 0 {
			t.Fatalf("no %q in %s", want, out[at:])
		}
		at += n
	}
	if out, _, _ := soku(t, "run", "--help"); !strings.Contains(out, "\nFlags:\n") || strings.Contains(out, "Output and storage") {
		t.Errorf("not all flags of a campaign are about output: %s", out)
	}
}

func TestHelpOfATestExplainsThatTest(t *testing.T) {
	for _, test := range measure.Tests() {
		out, _, _ := soku(t, string(test), "--help")
		if long := text.English().Sentence("help."+string(test)+".long", nil); !strings.HasPrefix(out, long+"\n") {
			t.Errorf("%s: its help does not begin with %q:\n%s", test, long, out)
		}
		for _, f := range option.Fields(test) {
			if help := f.HelpFor(test); !strings.Contains(out, "   "+help) {
				t.Errorf("%s: its help does not have %q", test, help)
			}
		}
	}
}

func TestHelpSaysWhereResultsAre(t *testing.T) {
	for args, says := range map[string]bool{"--help": true, "ls --help": true, "rm --help": true, "tcp --help": false, "man --help": false} {
		sys, out, _ := fakeSystem(t, strings.Fields(args)...)
		if code := Run(sys); code != 0 || strings.Contains(out.String(), "(SOKU_DATA, --store):\n  "+storeFile(sys, "")+"\n") != says {
			t.Errorf("%s: status %d, %s", args, code, out)
		}
	}
}

func TestHelpIsInGroupsAndAsWideAsTheTerminal(t *testing.T) {
	sys, out, _ := fakeSystem(t, "tcp", "--help")
	sys.StdoutWidth = func() int { return 50 }
	if code := Run(sys); code != 0 {
		t.Fatal(code)
	}
	help, examples := out.String(), false
	for _, want := range []string{"\nTest:\n", "\nNetwork:\n", "\nHosts:\n", "\nAccess to the server:\n", "\nOutput and storage:\n"} {
		if !strings.Contains(help, want) {
			t.Errorf("no %q in %s", want, help)
		}
	}
	for line := range strings.Lines(help) {
		examples = strings.HasPrefix(line, "Examples") || examples && strings.TrimSpace(line) != ""
		if w := text.Terminal.StringWidth(strings.TrimSpace(line)); w > 50 && !examples {
			t.Errorf("%d columns: %s", w, line)
		}
	}
}

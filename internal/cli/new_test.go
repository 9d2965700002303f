package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"soku/internal/campaign/plan"
	"soku/internal/campaign/studies"
)

// newPlan is a system whose plans are written to a folder of the test.
func newPlan(t *testing.T) (file string, run func(answers string, args ...string) (stdout, stderr string, code int)) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "gateways.yaml")
	return file, func(answers string, args ...string) (string, string, int) {
		sys, out, errs := fakeSystem(t, append([]string{"new"}, args...)...)
		if answers != "" {
			sys.StdinTerminal = func() bool { return true }
			sys.Stdin = strings.NewReader(answers)
		}
		code := Run(sys)
		return out.String(), errs.String(), code
	}
}

func loaded(t *testing.T, file string) *plan.Plan {
	t.Helper()
	p, err := plan.Load(file, os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAPlanIsWrittenFromFlags(t *testing.T) {
	file, run := newPlan(t)
	out, errs, code := run("", "--host", "vm2=10.0.1.4,vm3=10.0.1.5", "--vary", "streams=1,4,16", "--vary", "sku=a, b", "--test", "tcp", "--rounds", "9", "--question", "Which?", "-o", file)
	if code != 0 || !strings.Contains(out, "wrote "+file) || errs != "" {
		t.Fatalf("status %d: %s%s", code, out, errs)
	}
	p := loaded(t, file)
	if len(p.AllPatterns()) != 12 || p.Campaign != "gateways" || p.Title != "Which?" || p.Rounds != 9 || p.Factors[2].Value.By != plan.ByHand {
		t.Errorf("%d patterns of %+v", len(p.AllPatterns()), p)
	}
	if out, errs, code := soku(t, "plan", file); code != 0 || !strings.Contains(out, "12 patterns") {
		t.Errorf("soku plan: status %d, %s%s", code, out, errs)
	}
}

func TestAPlanThatIsThereIsNotWrittenOver(t *testing.T) {
	file, run := newPlan(t)
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := run("", "--host", "vm2", "-o", file); code != 2 || !strings.Contains(errs, "there already") {
		t.Errorf("status %d: %s", code, errs)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "mine" {
		t.Errorf("%q, %v", text, err)
	}
	if _, errs, code := run("", "--host", "vm2", "-o", file, "--force"); code != 0 {
		t.Errorf("status %d: %s", code, errs)
	}
	loaded(t, file)
}

func TestAPlanGoesToStandardOutput(t *testing.T) {
	_, run := newPlan(t)
	out, errs, code := run("", "--host", "vm2", "-o", "-")
	if p, err := plan.Parse("plan.yaml", []byte(out)); err != nil || code != 0 || p.Campaign != "plan" {
		t.Errorf("%v, status %d: %s%s", err, code, out, errs)
	}
}

func TestThePlanOfAStudyIsWritten(t *testing.T) {
	if len(studies.Names()) != 5 {
		t.Errorf("the studies are %v", studies.Names())
	}
	for _, name := range studies.Names() {
		file, run := newPlan(t)
		if _, errs, code := run("", "--case", name, "-o", file); code != 0 {
			t.Fatalf("status %d: %s", code, errs)
		}
		if p := loaded(t, file); p.Campaign != name || p.Lab != "" || p.Title == "" {
			t.Errorf("%s is %+v", name, p)
		}
		if _, errs, code := run("", "--case", name, "-o", file); code != 2 || !strings.Contains(errs, "there already") {
			t.Errorf("again: status %d, %s", code, errs)
		}
	}
	_, run := newPlan(t)
	for args, want := range map[string]string{"--case x": "the studies are accelerated-networking,", "--case vpn-active-active --host vm2": "none of the others can be"} {
		if _, errs, code := run("", strings.Fields(args)...); code != 2 || !strings.Contains(errs, want) {
			t.Errorf("%s: status %d, %s", args, code, errs)
		}
	}
}

func TestNewSaysWhatIsMissingOrWrong(t *testing.T) {
	file, run := newPlan(t)
	for args, want := range map[string]string{
		"":                              "needs a host",
		"--host vm2 --vary streams":     "is not NAME=LEVEL,LEVEL",
		"--host vm2 --vary =1,2":        "is not NAME=LEVEL,LEVEL",
		"--host vm2 --vary streams=x,y": "would not load",
		"--host vm2 --test quic":        `unknown test "quic"`,
		"--host vm2 --rounds 0":         "would not load",
		"--host vm2 --name a/b":         "would not load",
	} {
		if _, errs, code := run("", append(strings.Fields(args), "-o", file)...); code != 2 || !strings.Contains(errs, want) {
			t.Errorf("%s: status %d, %s", args, code, errs)
		}
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a plan was written")
	}
}

func TestAPersonIsAskedForWhatTheFlagsDoNotSay(t *testing.T) {
	file, run := newPlan(t)
	_, errs, code := run(strings.Join([]string{
		"Which gateway?", // the question
		"a b",            // no address
		"vm2=10.0.1.4",   // a host
		"tcp, nothing",   // no test
		"tcp, latency",   //
		"streams", "1, many", "1, 8",
		"sku", "./set $SOKU_FACTOR_SKU", "a, b",
		"cable", "", "old, new",
		"",   // nothing else is varied
		"0",  // no number of rounds
		"12", //
	}, "\n")+"\n", "-o", file)
	if code != 0 {
		t.Fatalf("status %d: %s", code, errs)
	}
	p := loaded(t, file)
	if p.Title != "Which gateway?" || len(p.AllPatterns()) != 8 || p.Rounds != 12 || p.Before != "./set $SOKU_FACTOR_SKU\n" || p.Factors[2].Value.By != plan.ByHand {
		t.Errorf("%d patterns of %+v", len(p.AllPatterns()), p)
	}
	if strings.Count(errs, "soku: ") != 4 {
		t.Errorf("of 4 wrong answers %d are reported: %s", strings.Count(errs, "soku: "), errs)
	}
	if want := "Tests, with commas between several: tcp, udp, latency,"; !strings.Contains(errs, want) {
		t.Errorf("want %q: %s", want, errs)
	}
}

func TestAPersonMayTakeWhatIsUsual(t *testing.T) {
	file, run := newPlan(t)
	if _, errs, code := run("\nvm2\n\n\n\n", "-o", file); code != 0 {
		t.Fatalf("status %d: %s", code, errs)
	}
	if p := loaded(t, file); strings.Join(p.Tests.Names(), " ") != "tcp latency" || p.Rounds != 6 || len(p.Factors) != 0 {
		t.Errorf("%+v", p)
	}
}

func TestAnAnswerMayHaveSeveralFactorsAndAHostBySSH(t *testing.T) {
	file, run := newPlan(t)
	_, errs, code := run(strings.Join([]string{
		"", "big=admin@10.0.1.4", "tcp latency",
		"gateway SKU=a",  // no name before the equals sign
		"streams=1,many", // no option
		"streams = 1, 4; sku=small, very large zone=1,2,3", //
		"./resize", "", // the command of sku; a person sets zone
		"rate, disk", "1G", "", "hdd, ssd", // two names
		"", "",
	}, "\n")+"\n", "-o", file)
	if code != 0 || strings.Count(errs, "soku: ") != 2 {
		t.Fatalf("status %d: %s", code, errs)
	}
	p := loaded(t, file)
	if names := strings.Join(p.Factors.Names(), " "); names != "streams sku zone rate disk" || len(p.AllPatterns()) != 2*2*3*1*2 || p.Before != "./resize\n" {
		t.Errorf("%d patterns of %s, before %q", len(p.AllPatterns()), names, p.Before)
	}
	if levels := p.Factors[1].Value.Levels; len(levels) != 2 || levels[1].Name != "very large" {
		t.Errorf("SKUs are %+v", levels)
	}
	if e, _ := p.Endpoints.Get("big"); e.SSH != "admin@10.0.1.4" || e.Address != "" {
		t.Errorf("%+v", e)
	}
}

func TestFactorsMayChooseTheHost(t *testing.T) {
	file, run := newPlan(t)
	_, errs, code := run(strings.Join([]string{
		"", "admin@{vmsize}-{zone}", "tcp",
		"d2, d4, d8", "1, 2", // of vmsize and zone
		"streams=1,8", "", "",
	}, "\n")+"\n", "-o", file)
	if code != 0 {
		t.Fatalf("status %d: %s", code, errs)
	}
	p := loaded(t, file)
	if e, _ := p.Endpoints.Get("d8-2"); len(p.AllPatterns()) != 12 || len(p.Endpoints) != 6 || e.SSH != "admin@d8-2" {
		t.Errorf("%d patterns, endpoints %+v", len(p.AllPatterns()), p.Endpoints)
	}
	if _, errs, code := run("", "--host", "vm-{zone}", "-o", "-"); code != 2 || !strings.Contains(errs, "--vary zone=1,2") {
		t.Errorf("status %d: %s", code, errs)
	}
}

func TestAQuestionIsExplainedAndAskedAgain(t *testing.T) {
	file, run := newPlan(t)
	_, errs, code := run(strings.Join([]string{
		"back",                         // there is none before: this is the answer
		"?", "vm2", "back", "?", "vm3", // of another host
		"?", "back", "vm4", "tcp",
		"?", "streams", "?", "back", "sku", "?", "./resize", "a, b",
		"", "?", "7",
	}, "\n")+"\n", "-o", file)
	if code != 0 || strings.Contains(errs, "soku: ") {
		t.Fatalf("status %d: %s", code, errs)
	}
	for _, help := range []string{"Several hosts are compared", "tcp: goodput", "Each combination of levels", "The values to compare", "A line for the shell", "How often each"} {
		if !strings.Contains(errs, help) {
			t.Errorf("no %q in %s", help, errs)
		}
	}
	p := loaded(t, file)
	if p.Title != "back" || p.Rounds != 7 || strings.Join(p.Factors.Names(), " ") != "sku" || strings.Join(p.Endpoints.Names(), " ") != "vm4" || strings.Join(p.Tests.Names(), " ") != "tcp" {
		t.Errorf("%+v", p)
	}
}

func TestAnswersAreKeptIfTheyEndAndTakenTheNextTime(t *testing.T) {
	file, run := newPlan(t)
	kept := file + ".answers"
	if _, errs, code := run("Why: not?\nvm2\n", "-o", file); code != 130 || !strings.Contains(errs, "the answers are in "+kept) {
		t.Fatalf("status %d, %s", code, errs)
	}
	if b, err := os.ReadFile(kept); err != nil || string(b) != "question: Why: not?\nhosts: vm2\n" {
		t.Errorf("%q, %v", b, err)
	}
	if _, errs, code := run("udp\nback\n", "-o", file); code != 130 || !strings.Contains(errs, "going on with the answers in "+kept) || !strings.Contains(errs, "(Enter: none) Why: not?\n") {
		t.Errorf("status %d, %s", code, errs)
	}
	if _, errs, code := run("tcp\n\n\n", "-o", file); code != 0 {
		t.Fatalf("status %d, %s", code, errs)
	}
	if p := loaded(t, file); p.Title != "Why: not?" || strings.Join(p.Endpoints.Names(), " ") != "vm2" || strings.Join(p.Tests.Names(), " ") != "tcp" {
		t.Errorf("%+v", p)
	}
	if _, err := os.Stat(kept); err == nil {
		t.Error("the answers are still there")
	}
	// With flags that answer a question the answers behind it do not fit.
	if _, _, code := run("Why?\nvm2\ntcp\n", "-o", file, "--force"); code != 130 {
		t.Errorf("status %d", code)
	}
	if _, errs, code := run("latency\n\n\n", "-o", file, "--force", "--host", "vm5"); code != 0 {
		t.Errorf("status %d, %s", code, errs)
	}
	if p := loaded(t, file); p.Title != "Why?" || strings.Join(p.Endpoints.Names(), " ") != "vm5" || strings.Join(p.Tests.Names(), " ") != "latency" {
		t.Errorf("%+v", p)
	}
}

func TestAnswersThatCannotBeReadAreReported(t *testing.T) {
	file, run := newPlan(t)
	if err := os.Mkdir(file+".answers", 0o700); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := run("Why?\n", "-o", file); code != 3 || !strings.Contains(errs, file+".answers") || strings.Contains(errs, "ingest") {
		t.Errorf("status %d, %s", code, errs)
	}
}

func TestNothingIsWrittenIfTheAnswersEnd(t *testing.T) {
	file, run := newPlan(t)
	if _, errs, code := run("Why?\nvm2\n", "-o", file); code != 130 || !strings.Contains(errs, "the input ended") {
		t.Errorf("status %d: %s", code, errs)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a plan was written")
	}
}

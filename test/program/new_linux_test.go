package program

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"soku/test/built"
	"soku/test/tier"
)

// person sits at a terminal on which a program runs.
type person struct {
	t        *testing.T
	terminal *os.File
	shown    strings.Builder // since the last awaited words
}

// startAtTerminal starts a program whose terminal sends it SIGINT for Ctrl-C.
func startAtTerminal(t *testing.T, dir, program string, args ...string) (*person, *exec.Cmd) {
	t.Helper()
	terminal, far := openTerminal(t)
	c := exec.CommandContext(t.Context(), program, args...)
	c.Dir, c.Stdin, c.Stdout, c.Stderr = dir, far, far, far
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	_ = far.Close()
	_ = terminal.SetReadDeadline(time.Now().Add(20 * time.Second))
	return &person{t: t, terminal: terminal}, c
}

// reads waits for words, and returns what was shown until then.
func (p *person) reads(words string) string {
	p.t.Helper()
	b := make([]byte, 4096)
	for !strings.Contains(p.shown.String(), words) {
		n, err := p.terminal.Read(b)
		if err != nil {
			p.t.Fatalf("%v, and no %q in %q", err, words, p.shown.String())
		}
		p.shown.Write(b[:n])
	}
	shown := p.shown.String()
	p.shown.Reset()
	return shown
}

func (p *person) types(text string) {
	p.t.Helper()
	if _, err := p.terminal.WriteString(text); err != nil {
		p.t.Fatal(err)
	}
}

// A person answers every question, ends it once in between, and gets a plan that loads.
func TestAPersonAnswersEveryQuestionOfNew(t *testing.T) {
	tier.SpendsSeconds(t)
	soku, dir := built.Program(t), t.TempDir()
	all := ""
	step := func(p *person, question, answer string) {
		t.Helper()
		all += p.reads(question)
		p.types(answer)
	}
	p, c := startAtTerminal(t, dir, soku, "new")
	step(p, "(Enter: none) ", "?\n")
	step(p, "(Enter: none) ", "Which size?\n")
	step(p, "by ssh): ", "vm1=admin@10.0.1.4, 10.0.1.5\n")
	step(p, "Tests, with commas between several: tcp, udp, latency, connect, ping, trace, mtu, copy (Enter: tcp, latency): ", "back\n")
	step(p, "by ssh): ", "vm1=admin@10.0.1.4\n")
	step(p, "(Enter: tcp, latency): ", "\x03")
	all += p.reads("soku: interrupted")
	if err := c.Wait(); c.ProcessState.ExitCode() != 130 || !strings.Contains(all, "plan.yaml.answers") {
		t.Errorf("%v, %s", err, all)
	}
	p, c = startAtTerminal(t, dir, soku, "new")
	step(p, "(Enter: tcp, latency): ", "tcp, latency\n")
	step(p, "(Enter: nothing): ", "streams=1,4 sku=a,b,c\n")
	step(p, "$SOKU_FACTOR_SKU (Enter: a person sets it, and soku run waits): ", "./resize\n")
	step(p, "(Enter: nothing else): ", "zone\n")
	step(p, "soku run waits): ", "\n")
	step(p, "Levels of zone, with commas between them: ", "1, 2\n")
	step(p, "(Enter: nothing else): ", "\n")
	step(p, "(Enter: 6): ", "\n")
	all += p.reads("wrote plan.yaml")
	if err := c.Wait(); err != nil || !strings.Contains(all, "going on with the answers in plan.yaml.answers") {
		t.Errorf("%v, %s", err, all)
	}
	for _, made := range []string{"map[", "new.", "{{", "soku: unknown"} {
		if strings.Contains(all, made) {
			t.Errorf("%q is shown: %s", made, all)
		}
	}
	plan := exec.CommandContext(t.Context(), soku, "plan", "plan.yaml")
	plan.Dir = dir
	if out, err := plan.CombinedOutput(); err != nil || !strings.Contains(string(out), "12 patterns") {
		t.Errorf("%v, %s", err, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "plan.yaml.answers")); err == nil {
		t.Error("the answers are left")
	}
}

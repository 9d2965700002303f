package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"soku/test/built"
	"soku/test/tier"
)

// mostExposed is the limit for systemd-analyze security, in tenths: 0 to 20 is "OK".
const mostExposed = "20"

func TestUnitsAreValidAndConfined(t *testing.T) {
	tier.SpendsSeconds(t)
	analyze := need(t, "systemd-analyze")
	for name, program := range map[string]string{"soku-hub": built.Hub(t), "soku-agent": built.Program(t)} {
		t.Run(name, func(t *testing.T) {
			unit := installed.ReplaceAllString(read(t, "systemd/"+name+".service"), "ExecStart="+program+" ")
			file := filepath.Join(t.TempDir(), name+".service")
			if err := os.WriteFile(file, []byte(unit), 0o644); err != nil {
				t.Fatal(err)
			}
			// It warns of what it does not know or cannot find, and succeeds all the same.
			if out, err := exec.Command(analyze, "verify", "--man=no", file).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%v\n%s", err, out)
			}
			security := exec.Command(analyze, "security", "--offline=true", "--no-pager", "--threshold="+mostExposed, file)
			if out, err := security.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

var installed = regexp.MustCompile(`(?m)^ExecStart=\S+ `)

// The exit codes are those of docs/reference/agent.md.
func TestUnitsDoNotRepeatWhatOnlyAPersonCanChange(t *testing.T) {
	_, after, ok := strings.Cut(read(t, "../docs/reference/agent.md"), "RestartPreventExitStatus=")
	want, _, _ := strings.Cut(strings.TrimSpace(after), "\n")
	if !ok || !strings.Contains(read(t, "systemd/soku-agent.service"), "\nRestartPreventExitStatus="+strings.TrimSpace(want)+"\n") {
		t.Errorf("the unit of the agent is started again after other exit codes than %q", want)
	}
}

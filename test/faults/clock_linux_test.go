package faults

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/test/tier"
)

// Programs of this test are built with another package time: what the clock shows is changed by the seconds in the file that the variable
// names, as a step of the system's clock would. Monotonic times do not change.
const clockSource = `package time

import (
	"syscall"
	"unsafe"
)

var stepFile = func() *int64 {
	if name, ok := syscall.Getenv("` + clockVariable + `"); ok {
		if fd, err := syscall.Open(name, syscall.O_RDONLY, 0); err == nil {
			if b, err := syscall.Mmap(fd, 0, 8, syscall.PROT_READ, syscall.MAP_SHARED); err == nil {
				return (*int64)(unsafe.Pointer(&b[0]))
			}
		}
	}
	return new(int64)
}()

func stepped() (sec int64, nsec int32, mono int64) {
	sec, nsec, mono = runtimeNow()
	return sec + *stepFile, nsec, mono
}
`

func TestTheClockIsSet(t *testing.T) {
	tier.Asked(t, os.Getenv(runsAsked), "faults")
	hubClock, agentClock := filepath.Join(t.TempDir(), "clock"), filepath.Join(t.TempDir(), "clock")
	set := func(file string, to time.Duration) {
		f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			err = binary.Write(f, binary.NativeEndian, int64(to/time.Second))
		}
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	set(hubClock, 0)
	set(agentClock, 0)
	s := newSite(t, nil, func(s *site) {
		folder := buildWithClock(t)
		s.hubProgram, s.agentProgram = filepath.Join(folder, "soku-hub"), filepath.Join(folder, "soku")
		s.clocks = map[string]string{"hub-0": hubClock, "a": agentClock}
	})
	s.rounds, s.duration, s.within = 2, 300*time.Millisecond, 2*time.Minute
	about := func(is, want time.Duration) bool { return (is - want).Abs() < 10*time.Minute }
	hubAt := time.Duration(0)
	for _, step := range []struct {
		name, file string
		to         time.Duration
	}{
		{"of the hub an hour forwards", hubClock, time.Hour}, {"of the hub back", hubClock, 0},
		{"of the hub an hour backwards", hubClock, -time.Hour}, {"of the hub forwards again", hubClock, 0},
		{"of an agent an hour forwards", agentClock, time.Hour}, {"of an agent back", agentClock, 0},
		{"of an agent an hour backwards", agentClock, -time.Hour},
	} {
		ok := t.Run(step.name, func(t *testing.T) {
			s.t = t
			campaign := s.begin()
			s.trialOf(campaign, "a")
			set(step.file, step.to)
			s.check(campaign)
			if step.file == hubClock {
				if took := s.last.EndedAt.Sub(s.last.BeganAt); !about(took, step.to-hubAt) {
					t.Errorf("by the clock of the hub the campaign took %v", took)
				}
				hubAt = step.to
			} else if !slices.ContainsFunc(s.kept, func(r *measure.Result) bool {
				return r.Path.Client.Name == "a" && about(time.Until(r.StartedAt), step.to)
			}) {
				t.Error("no trial began by the changed clock of its agent")
			}
		})
		if !ok {
			break
		}
	}
	s.t = t
}

// buildWithClock builds both programs with the other package time, and returns their folder.
func buildWithClock(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(strings.TrimSpace(string(goroot)), "src", "time")
	text, err := os.ReadFile(filepath.Join(source, "time.go"))
	if err != nil {
		t.Fatal(err)
	}
	const before, after = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()", "func Now() Time {\n\tsec, nsec, mono := stepped()"
	if !strings.Contains(string(text), before) {
		t.Fatal("this version of Go has another time.Now")
	}
	replaced := map[string]string{}
	for name, content := range map[string]string{"time.go": strings.Replace(string(text), before, after, 1), "stepped.go": clockSource} {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		replaced[filepath.Join(source, name)] = file
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "overlay.json"), overlay, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-overlay", filepath.Join(folder, "overlay.json"), "-o", folder, "soku/cmd/soku", "soku/cmd/soku-hub")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return folder
}

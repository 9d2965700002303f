package lab

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"soku/internal/measure"
)

func TestDownFindsALabWhoseStateIsLost(t *testing.T) {
	l := up(t, pair)
	if err := os.RemoveAll(l.Dir); err != nil {
		t.Fatal(err)
	}
	if err := Down(t.Context(), l.Topology.Name, l.options); err != nil {
		t.Error(err)
	}
	if names, _ := namespacesOf(l.Topology.Name); len(names) > 0 {
		t.Errorf("left: %v", names)
	}
	// Its devices are gone, so the delay line has nothing to do and ends by itself.
	for deadline := time.Now().Add(5 * time.Second); l.state.Processes[0].alive(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the delay line is still running")
		}
	}
}

func TestDownIsRepeatable(t *testing.T) {
	l := up(t, "hosts: {a: }")
	for range 2 {
		if err := l.Down(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if err := Down(t.Context(), "never-was", l.options); err != nil {
		t.Error(err)
	}
	if _, err := Open(l.Topology.Name, l.options); measure.KindOf(err) != measure.KindNotFound {
		t.Errorf("open after down: %v", err)
	}
}

func TestDownDoesNotEndAnUnrelatedProcessWithTheSamePID(t *testing.T) {
	l := up(t, "hosts: {a: }")
	other := exec.Command("sleep", "60")
	if err := other.Start(); err != nil {
		t.Skip(err)
	}
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	ticks, err := startTicks(other.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	l.state.Processes = []process{{Role: roleServer, Node: "a", PID: other.Process.Pid, StartTicks: ticks - 1}}
	if err := l.save(); err != nil {
		t.Fatal(err)
	}
	if err := l.Down(t.Context()); err != nil {
		t.Error(err)
	}
	if p := (process{PID: other.Process.Pid, StartTicks: ticks}); !p.alive() {
		t.Error("the other process was killed")
	}
}

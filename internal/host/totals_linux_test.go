package host

import "testing"

func TestInterruptsAreAddedUpOverLinesAndProcessors(t *testing.T) {
	const list = `            CPU0       CPU1
  24:        100          7   PCI-MSIX-0000:00:02.0   0-edge      virtio1-config
  25:         20          3   PCI-MSIX-0000:00:02.0   1-edge      virtio1-input.0
 LOC:    9000000    9000000   Local timer interrupts
`
	for wanted, n := range map[string]int64{"virtio1": 130, "input": 23, "no such": 0} {
		if got := parseInterrupts(list, wanted); got != n {
			t.Errorf("%q: %d, want %d", wanted, got, n)
		}
	}
}

func TestThisHostHasTotals(t *testing.T) {
	totals := ReadTotals()
	if totals.CPUs < 1 || totals.Time.UserNs == 0 || totals.Time.IdleNs == 0 || totals.Time.CPU != -1 || totals.ProcessNs == 0 {
		t.Errorf("read %+v", totals)
	}
	if _, ok := Interfaces()["lo"]; !ok {
		t.Error("no counters of lo")
	}
	if _, ok := ReadRetransmits(); !ok {
		t.Error("no counters of TCP")
	}
}

func TestTheClockOfTheFirstProcessorIsRead(t *testing.T) {
	if got := parseMHz("processor\t: 0\ncpu MHz\t\t: 2394.462\n"); got != 2394.462 {
		t.Errorf("read %v MHz", got)
	}
}

package host

import "testing"

func TestTotalsAreOfAllProcessors(t *testing.T) {
	const text = `cpu  10 2 30 400 5 6 7 8 9 10
cpu0 5 1 15 200 2 3 3 4 4 5
cpu1 5 1 15 200 3 3 4 4 5 5
intr 123 4 5
`
	got := parseTotals(text)
	want := Totals{CPUs: 2, User: 10, System: 30, Idle: 400, IOWait: 5, Softirq: 7, All: 468}
	if got != want {
		t.Errorf("read %+v, want %+v", got, want)
	}
}

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
	if totals.CPUs < 1 || totals.All == 0 || totals.ProcessNs == 0 {
		t.Errorf("read %+v", totals)
	}
	if _, _, ok := InterfacePackets("lo"); !ok {
		t.Error("no packets of lo")
	}
	for _, name := range []string{"", "../net/lo", "..", "no-such-interface"} {
		if _, _, ok := InterfacePackets(name); ok {
			t.Errorf("interface %q has packets", name)
		}
	}
	if got := parseMHz("processor\t: 0\ncpu MHz\t\t: 2394.462\n"); got != 2394.462 {
		t.Errorf("read %v MHz", got)
	}
}

package doctor

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/nftables/expr"

	"soku/internal/measure"
)

// plant makes files below a root of its own.
func plant(t *testing.T, all map[string]string) files {
	t.Helper()
	root := t.TempDir()
	for name, text := range all {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return files(root)
}

var systemFiles = map[string]string{
	"proc/sys/net/netfilter/nf_conntrack_count":                          "17\n",
	"proc/sys/net/netfilter/nf_conntrack_max":                            "262144\n",
	"sys/devices/system/clocksource/clocksource0/available_clocksource":  "tsc hpet acpi_pm \n",
	"sys/devices/system/cpu/cpufreq/policy0/scaling_governor":            "powersave\n",
	"sys/devices/system/cpu/cpufreq/policy0/scaling_available_governors": "performance powersave\n",
	"sys/devices/system/cpu/cpufreq/boost":                               "1\n",
	"sys/class/net/eth0/duplex":                                          "full\n",
	"sys/class/net/eth0/queues/rx-0/rps_cpus":                            "00\n",
	"sys/class/net/eth0/queues/rx-1/rps_cpus":                            "00\n",
	"sys/class/net/eth0/queues/tx-0/xps_cpus":                            "00\n",
	"sys/class/net/eth0/device/msi_irqs/24":                              "msix\n",
	"sys/class/net/eth0/device/msi_irqs/25":                              "msix\n",
	"sys/class/net/eth0/device/msi_irqs/26":                              "msix\n",
	"proc/irq/24/effective_affinity_list":                                "0\n",
	"proc/irq/25/effective_affinity_list":                                "1\n",
	"proc/irq/26/effective_affinity_list":                                "",
	"proc/self/cgroup":                                                   "0::/system.slice/bench.service\n",
	"proc/31/comm":                                                       "irqbalance\n",
}

func TestExtraIsReadFromItsFiles(t *testing.T) {
	x := plant(t, systemFiles).extra("eth0")
	want := &Extra{
		Device: "eth0", Unit: "bench.service", Duplex: "full", Interrupts: []Interrupt{{24, "0"}, {25, "1"}}, Balancer: true, Queues: []string{"rx-0", "rx-1"},
		Conntrack: &Conntrack{17, 262144}, ClockSources: []string{"tsc", "hpet", "acpi_pm"},
		Policies: []Policy{{"policy0", "powersave", []string{"performance", "powersave"}}},
	}
	if !reflect.DeepEqual(x, want) {
		t.Errorf("read %+v, want %+v", x, want)
	}
}

// Each source in turn is missing, has no sense, or is a folder: the checks that need it do not
// look, and all others do as before.
func TestASourceThatFailsCostsItsChecksAndNoOthers(t *testing.T) {
	look := func(root files) End {
		s := healthy()
		x := root.extra("eth0")
		x.Fixed, x.EEE, x.Firewall = s.Extra.Fixed, s.Extra.EEE, s.Extra.Firewall
		s.Extra = x
		return Examine(Checks, s)
	}
	costs := map[string]string{"conntrack": "conntrack", "duplex": "duplex", "msi_irqs": "interrupts", "irq/": "interrupts", "cpufreq": "governor"}
	for name := range systemFiles {
		for kind, text := range map[string]string{"missing": "-", "senseless": strings.Repeat("\x00-9,:/\n", 9000), "folder": "+"} {
			all := map[string]string{}
			for other, text := range systemFiles {
				all[other] = text
			}
			delete(all, name)
			switch text {
			case "-":
			case "+":
				all[name+"/x"] = ""
			default:
				all[name] = text
			}
			end := look(plant(t, all))
			for _, n := range end.NotLooked {
				may := false
				for part, code := range costs {
					may = may || strings.Contains(name, part) && n.Code == code
				}
				if !may {
					t.Errorf("%s %s costs %s", name, kind, n.Code)
				}
			}
			if n := len(end.Findings) + len(end.Passed) + len(end.NotLooked); n < len(Checks) {
				t.Errorf("%s %s: %d outcomes", name, kind, n)
			}
		}
	}
}

func TestASourceThatHangsCostsItsMembersAndNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hung := make(chan struct{})
		x := gather(t.Context(), []source{
			func() func(*Extra) { <-hung; return func(x *Extra) { x.Duplex = "late" } },
			func() func(*Extra) { return func(x *Extra) { x.Balancer = true } },
		})
		if !x.Balancer || x.Duplex != "" || x.FirewallNot != Unreadable {
			t.Errorf("got %+v", x)
		}
		close(hung)
		synctest.Wait()
		if x.Duplex != "" {
			t.Error("a late source changed what was returned")
		}
	})
}

func TestTheUnitIsThatOfTheControlGroup(t *testing.T) {
	for cgroup, want := range map[string]string{
		"0::/system.slice/soku@1.service\n":                                "soku@1.service",
		"12:cpu:/a\n1:name=systemd:/user.slice/session-3.scope\n0::/x.y\n": "session-3.scope",
		"0::/": "", "": "", "0::/a/$(reboot).service": "", "0::/kubepods/pod1": "", "no group": "",
	} {
		if got := unitOf(cgroup); got != want {
			t.Errorf("%q is of %q, want %q", cgroup, got, want)
		}
	}
}

func TestARuleIsAboutAPortIfItComparesIt(t *testing.T) {
	header := &expr.Payload{Base: expr.PayloadBaseTransportHeader, Offset: 2, Len: 2}
	for name, c := range map[string]struct {
		rule []expr.Any
		want bool
	}{
		"equal":      {[]expr.Any{header, &expr.Cmp{Data: []byte{0x1d, 0xea}}}, true}, // 7658
		"another":    {[]expr.Any{header, &expr.Cmp{Data: []byte{0, 22}}}, false},
		"in a range": {[]expr.Any{header, &expr.Range{FromData: []byte{0, 22}, ToData: []byte{0xff, 0xff}}}, true},
		"above":      {[]expr.Any{header, &expr.Range{FromData: []byte{0x1d, 0xeb}, ToData: []byte{0xff, 0xff}}}, false},
		"source":     {[]expr.Any{&expr.Payload{Base: expr.PayloadBaseTransportHeader, Offset: 0, Len: 2}, &expr.Cmp{Data: []byte{0x1d, 0xea}}}, false},
		"nothing":    {nil, false},
	} {
		if comparesPort(c.rule, 7658) != c.want {
			t.Errorf("%s: %v", name, !c.want)
		}
	}
}

func TestThisMachineIsRead(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the sample ends immediately
	a := takeSample(ctx, "lo")
	if a.CPUs < 1 || len(processTimes()) < 1 {
		t.Errorf("sample %+v", a)
	}
	if _, err := Look(ctx, Config{}); err == nil {
		t.Error("no error of a context that ended")
	}
}

func TestTheBusiestProcessesAreNamed(t *testing.T) {
	got := busiest(
		map[int]Process{1: {1, "init", 5}, 2: {2, "old", 5}, 3: {3, "busy", 100}, ownPID: {ownPID, "soku", 0}},
		map[int]Process{1: {1, "init", 9}, 2: {2, "new", 50}, 3: {3, "busy", 300}, 4: {4, "late", 70}, ownPID: {ownPID, "soku", 900}},
	)
	if want := []Process{{3, "busy", 200}, {1, "init", 4}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestASeriesHasNoColumnOfWhatDidNotMove(t *testing.T) {
	var a Sample
	a.take(measure.SeriesValues{AtNs: []int64{0, 1, 2}, Columns: map[string][]int64{
		"interface.sent_bytes": {5, 6}, "cpu0.user_ns": {1, 1}, "softnet.dropped": {-1, 2},
	}}, true)
	if a.SentBytes != 11 || a.Counters["softnet.dropped"] != 2 || a.Counters["cpu0.user_ns"] != 0 || !a.Traffic {
		t.Errorf("%+v", a)
	}
	for _, resource := range pressureKnown() {
		if _, known := a.Counters["pressure."+resource+"_ns"]; !known {
			t.Errorf("no pressure of %s is unknown pressure", resource)
		}
	}
}

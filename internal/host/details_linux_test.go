package host

import (
	"context"
	"encoding/json"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"soku/internal/host/cloud"
	"soku/internal/measure"
)

func TestDetailsOfThisMachine(t *testing.T) {
	f := Facts(t.Context(), netip.MustParseAddr("127.0.0.1"))
	d := Details(t.Context(), f)
	if d.Processor == nil || d.Processor.Cores < 1 || d.TimeSync == nil || d.Limits == nil || d.Limits.OpenFiles < 1 {
		text, _ := json.Marshal(d)
		t.Errorf("details are %s", text)
	}
	if mtu := RouteMTU(netip.MustParseAddr("127.0.0.1")); mtu != f.MTU {
		t.Errorf("the MTU to this host is %d, that of loopback %d", mtu, f.MTU)
	}
}

// Opening a FIFO hangs, as opening a driver's file may.
func TestASourceThatHangsCostsItsMembersAndNoMore(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "hangs")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	hung := make(chan struct{})
	sources := []detailSource{
		func(context.Context) func(*measure.Details) {
			defer close(hung)
			read(fifo)
			return func(d *measure.Details) { d.RouteMTU = 1 }
		},
		func(context.Context) func(*measure.Details) { return nil },
		func(context.Context) func(*measure.Details) {
			return func(d *measure.Details) { d.Limits = &measure.Limits{OpenFiles: 7} }
		},
	}
	d := gather(t.Context(), 50*time.Millisecond, sources)
	if d.Limits == nil || d.RouteMTU != 0 {
		t.Errorf("got %+v", d)
	}
	w, err := os.OpenFile(fifo, os.O_WRONLY, 0) // lets it go
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	<-hung
	if d.RouteMTU != 0 {
		t.Error("a late source changed what was returned")
	}
}

func TestAMetadataServiceThatHangsCostsWhatItWouldSay(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // the kernel accepts, no server answers
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	t.Setenv(cloud.Setting, "azure@"+l.Addr().String())
	d := Details(t.Context(), measure.Facts{Interface: "lo", Driver: "mana"})
	yes := true
	if want := (&measure.Cloud{Provider: "azure", Accelerated: &yes}); !reflect.DeepEqual(d.Cloud, want) {
		t.Errorf("cloud %+v, want %+v", d.Cloud, want)
	}
	if d.Processor == nil || d.Limits == nil || d.NIC == nil {
		t.Errorf("the other members went, too: %+v", d)
	}
}

func TestAnUnreadableSystemHasNoDetails(t *testing.T) {
	for name, m := range map[string]tree{
		"empty":    plant(t, nil),
		"hostile":  plant(t, hostileSystem()),
		"no files": plant(t, foldersForFiles()),
	} {
		t.Run(name, func(t *testing.T) {
			if p := m.processor(); p != nil {
				t.Errorf("processor %+v", p)
			}
			if l := m.groupLimits(); l.CPUQuota != 0 || l.MemoryBytes != 0 {
				t.Errorf("limits %+v", l)
			}
			for _, disk := range m.disks(".") {
				if disk.Bytes != 0 || disk.Rotational {
					t.Errorf("disk %+v", disk)
				}
			}
			n := &measure.NIC{}
			m.busFacts(n, "eth0")
			m.steering(n, "eth0")
			if n.NUMANode != nil || n.RPS != nil || n.Bus != "" {
				t.Errorf("interface %+v", n)
			}
			if f := m.firmware(); cloud.ProviderOf(f) != "" {
				t.Errorf("a cloud: %+v", f)
			}
		})
	}
}

// hostileSystem has no sense in any of its files.
func hostileSystem() map[string]string {
	files := map[string]string{}
	for _, name := range systemFiles {
		files[name] = strings.Repeat("-9,\x00:/\n", 5000)
	}
	return files
}

// foldersForFiles has a folder where a file should be.
func foldersForFiles() map[string]string {
	files := map[string]string{}
	for _, name := range systemFiles {
		files[name+"/x"] = ""
	}
	return files
}

var systemFiles = []string{
	"sys/devices/system/cpu/cpu0/topology/core_id", "proc/self/cgroup", "proc/self/mountinfo",
	"sys/fs/cgroup/cpu.max", "sys/block/sda/size", "sys/block/sda/queue/rotational", "sys/block/sda/device",
	"sys/class/net/eth0/device/numa_node", "sys/class/net/eth0/queues/rx-0/rps_cpus", "sys/class/dmi/id/sys_vendor",
	"sys/class/net/eth0/tx_queue_len", "sys/class/net/eth0/queues/rx-0/rps_flow_cnt",
}

func TestProcessorsShareCores(t *testing.T) {
	const cpu = "sys/devices/system/cpu/cpu"
	files := map[string]string{
		"sys/devices/system/cpu/cpufreq/x": "", "sys/devices/system/node/node0/x": "", "sys/devices/system/node/node1/x": "",
		cpu + "9/online": "0", // offline: without a topology
	}
	for i, core := range []string{"0", "0", "1", "1", "0", "0"} {
		files[cpu+strconv.Itoa(i)+"/topology/core_id"] = core
		files[cpu+strconv.Itoa(i)+"/topology/physical_package_id"] = strconv.Itoa(i / 4)
	}
	smt := true
	want := &measure.Processor{Sockets: 2, Cores: 3, SMT: &smt, NUMANodes: 2}
	if got := plant(t, files).processor(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestLimitsAreTheSmallestOfTheGroupAndThoseAbove(t *testing.T) {
	const two, one = "sys/fs/cgroup/", "sys/fs/cgroup/cpu,cpuacct/"
	mount := func(root, at, kind, options string) string {
		return "30 29 0:26 " + root + " /sys/fs/cgroup" + at + " rw,nosuid - " + kind + " cgroup " + options + "\n"
	}
	for _, c := range []struct {
		name  string
		files map[string]string
		want  measure.Limits
	}{
		{"version 2, a limit above the group", map[string]string{
			"proc/self/cgroup": "0::/a/b", "proc/self/mountinfo": mount("/", "", "cgroup2", "rw"),
			two + "a/cpu.max": "150000 100000", two + "a/b/cpu.max": "200000 100000",
			two + "a/memory.max": "4294967296", two + "a/b/memory.max": "1073741824",
		}, measure.Limits{CGroup: 2, CPUQuota: 1.5, MemoryBytes: 1 << 30}},
		{"version 2, no limits", map[string]string{
			"proc/self/cgroup": "0::/a", "proc/self/mountinfo": mount("/", "", "cgroup2", "rw"),
			two + "a/cpu.max": "max 100000", two + "a/memory.max": "max",
		}, measure.Limits{CGroup: 2}},
		{"version 1, a container without a namespace of groups", map[string]string{
			"proc/self/cgroup":       "4:memory:/docker/f00\n3:cpu,cpuacct:/docker/f00\n1:name=systemd:/docker/f00\n0::/",
			"proc/self/mountinfo":    mount("/docker/f00", "/cpu,cpuacct", "cgroup", "rw,cpu,cpuacct") + mount("/docker/f00", "/memory", "cgroup", "rw,memory"),
			one + "cpu.cfs_quota_us": "50000", one + "cpu.cfs_period_us": "100000",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712", // none
		}, measure.Limits{CGroup: 1, CPUQuota: 0.5}},
		{"version 1, a group in a container without a namespace of groups", map[string]string{
			"proc/self/cgroup":             "3:cpu,cpuacct:/docker/f00/inner",
			"proc/self/mountinfo":          mount("/docker/f00", "/cpu,cpuacct", "cgroup", "rw,cpu,cpuacct"),
			one + "inner/cpu.cfs_quota_us": "50000", one + "inner/cpu.cfs_period_us": "100000",
		}, measure.Limits{CGroup: 1, CPUQuota: 0.5}},
		{"version 1, no quota", map[string]string{
			"proc/self/cgroup": "3:cpu,cpuacct:/x", "proc/self/mountinfo": mount("/", "/cpu,cpuacct", "cgroup", "rw,cpu,cpuacct"),
			one + "x/cpu.cfs_quota_us": "-1", one + "x/cpu.cfs_period_us": "100000",
		}, measure.Limits{CGroup: 1}},
		{"a group outside of what is mounted", map[string]string{
			"proc/self/cgroup": "0::/../elsewhere", "proc/self/mountinfo": mount("/mine", "", "cgroup2", "rw"),
			two + "cpu.max": "20000 100000",
		}, measure.Limits{CGroup: 2, CPUQuota: 0.2}},
		{"version 1, hidden from what ip netns exec starts", map[string]string{
			"proc/self/cgroup": "1:cpu:/x", "proc/self/mountinfo": "30 29 0:26 / /sys rw - sysfs x rw\n", "proc/self/status": "Name:\tsoku\nPPid:\t31\n",
			"proc/31/mountinfo": "30 29 0:26 / /sys rw - sysfs x rw\n", "proc/31/status": "Name:\tsh\nPPid:\t7\nUid:\t0\n",
			"proc/7/mountinfo": mount("/", "/cpu,cpuacct", "cgroup", "rw,cpu,cpuacct"), "proc/7/status": "Name:\tinit\nPPid:\t0\n",
			"proc/7/root/" + one + "x/cpu.cfs_quota_us": "20000", "proc/7/root/" + one + "x/cpu.cfs_period_us": "100000",
		}, measure.Limits{CGroup: 1, CPUQuota: 0.2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := plant(t, c.files).groupLimits(); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestDisksStartWithTheOneOfTheWorkingFolder(t *testing.T) {
	var s unix.Stat_t
	folder := t.TempDir()
	if err := unix.Stat(folder, &s); err != nil {
		t.Fatal(err)
	}
	number := strconv.Itoa(int(unix.Major(s.Dev))) + ":" + strconv.Itoa(int(unix.Minor(s.Dev)))
	m := plant(t, map[string]string{
		"sys/block/loop0/size": "8", "sys/block/dm-0/size": "100",
		"sys/block/nvme0n1/device/model": "Amazon Elastic Block Store", "sys/block/nvme0n1/size": "2048",
		"sys/block/nvme0n1/queue/rotational": "0", "sys/block/nvme0n1/queue/scheduler": "[none] mq-deadline",
		"sys/block/sdb/device/model": "ST4000", "sys/block/sdb/size": "4096",
		"sys/block/sdb/queue/rotational": "1", "sys/block/sdb/queue/scheduler": "none [mq-deadline]",
		"sys/dev/block/" + number: "-> ../../devices/ata1/block/sdb/sdb1", "sys/devices/ata1/block/sdb/sdb1/partition": "1",
	})
	want := []measure.Disk{
		{Name: "sdb", Model: "ST4000", Bytes: 4096 * 512, Rotational: true, Scheduler: "mq-deadline", Working: true},
		{Name: "nvme0n1", Model: "Amazon Elastic Block Store", Bytes: 2048 * 512, Scheduler: "none"},
	}
	if got := m.disks(folder); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestQueuesAreSteeredToProcessors(t *testing.T) {
	const queues = "sys/class/net/eth0/queues/"
	m := plant(t, map[string]string{
		queues + "rx-0/rps_cpus": "00000001,00000003", queues + "rx-0/rps_flow_cnt": "4096",
		queues + "rx-1/rps_cpus": "00000000,00000008", queues + "rx-1/rps_flow_cnt": "4096",
		queues + "rx-2/rps_cpus": "00000000,00000000", queues + "tx-0/xps_cpus": "f", queues + "tx-1/xps_cpus": "q",
	})
	n := &measure.NIC{}
	m.steering(n, "eth0")
	want := &measure.NIC{
		Queues: &measure.Queues{Rx: 3, Tx: 2}, RFSFlows: 8192,
		RPS: &measure.Steering{Queues: 2, CPUs: "0-1,3,32"}, XPS: &measure.Steering{Queues: 1, CPUs: "0-3"},
	}
	if !reflect.DeepEqual(n, want) {
		t.Errorf("got %+v %+v %+v", n, n.RPS, n.XPS)
	}
}

func TestAnInterfaceOnVirtioIsOnTheBusBelow(t *testing.T) {
	const pci = "sys/devices/pci0000:00/0000:00:05.0/"
	m := plant(t, map[string]string{
		"sys/class/net/eth0/device": "-> ../../../devices/pci0000:00/0000:00:05.0/virtio1",
		pci + "virtio1/subsystem":   "-> ../../../../bus/virtio", pci + "virtio1/vendor": "0x1af4",
		pci + "subsystem": "-> ../../../bus/pci", pci + "vendor": "0x1af4", pci + "device": "0x1041", pci + "numa_node": "1",
	})
	n, node := &measure.NIC{}, 1
	m.busFacts(n, "eth0")
	if want := (&measure.NIC{Bus: "0000:00:05.0", PCIID: "1af4:1041", NUMANode: &node}); !reflect.DeepEqual(n, want) {
		t.Errorf("got %+v", n)
	}
}

func TestAClockIsSynchronizedWhileItsErrorIsKept(t *testing.T) {
	timex := unix.Timex{Status: unix.STA_PLL, Esterror: 20, Maxerror: 1500, Offset: 300}
	want := measure.TimeSync{Synchronized: true, EstimatedErrorNs: 20_000, MaximumErrorNs: 1_500_000, OffsetNs: 300_000}
	if got := timeSyncOf(unix.TIME_OK, &timex); *got != want {
		t.Errorf("got %+v", got)
	}
	timex.Status |= unix.STA_NANO
	if got := timeSyncOf(unix.TIME_OK, &timex); got.OffsetNs != 300 {
		t.Errorf("in nanoseconds: %+v", got)
	}
	for name, got := range map[string]*measure.TimeSync{
		"the clock's state":  timeSyncOf(unix.TIME_ERROR, &timex),
		"nobody corrects it": timeSyncOf(unix.TIME_OK, &unix.Timex{Status: unix.STA_UNSYNC, Maxerror: 16_000_000}),
	} {
		if *got != (measure.TimeSync{}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestTheFirmwareNamesTheCloud(t *testing.T) {
	if got := cloud.ProviderOf(plant(t, azureMachine).firmware()); got != cloud.Azure {
		t.Errorf("got %q", got)
	}
}

package doctor

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"soku/internal/host"
)

const stealReported = true

var ownPID = os.Getpid()

// userHZ is the unit of processor times in /proc, 1/100 s (USER_HZ), ns.
const userHZ = 10_000_000

// mostProcesses bounds how many are read.
const mostProcesses = 4096

// processTimes are the processor times of all processes since they started.
func processTimes() map[int]Process {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return nil
	}
	all, err := fs.AllProcs()
	if err != nil {
		return nil
	}
	out := make(map[int]Process, len(all))
	for _, p := range all[:min(len(all), mostProcesses)] {
		if s, err := p.Stat(); err == nil { // it may have ended
			out[p.PID] = Process{PID: p.PID, Name: s.Comm, Ns: int64(s.UTime+s.STime) * userHZ}
		}
	}
	return out
}

// files is a root folder below which the system's files are: "" for those of this machine.
type files string

// read returns a file's text without space around it, or "".
func (r files) read(path string) string {
	const most = 64 << 10
	f, err := os.Open(string(r) + path)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, most))
	return strings.TrimSpace(string(b))
}

func (r files) number(path string) (int64, bool) {
	n, err := strconv.ParseInt(r.read(path), 10, 64)
	return n, err == nil
}

// mostNames bounds what is looked at in a folder.
const mostNames = 4096

// names are the sorted names in a folder.
func (r files) names(path string) []string {
	f, err := os.Open(string(r) + path)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(mostNames)
	slices.Sort(names)
	return names
}

const (
	classNet    = "/sys/class/net/"
	cpufreq     = "/sys/devices/system/cpu/cpufreq/"
	clocks      = "/sys/devices/system/clocksource/clocksource0/available_clocksource"
	conntrackAt = "/proc/sys/net/netfilter/nf_conntrack_"
)

// pressureKnown are the resources whose pressure the kernel measures.
func pressureKnown() (known []string) {
	for resource := range pressureMost {
		if files("").read("/proc/pressure/"+resource) != "" {
			known = append(known, resource)
		}
	}
	return known
}

// readExtra reads what facts do not have, and returns what was read before ctx ended.
func readExtra(ctx context.Context, s *Subject) *Extra {
	device, iface, port := s.device(), s.Facts.Interface, s.Port
	return gather(ctx, []source{
		func() func(*Extra) {
			x := files("").extra(device)
			return func(all *Extra) {
				x.Fixed, x.EEE, x.Firewall, x.FirewallNot = all.Fixed, all.EEE, all.Firewall, all.FirewallNot
				*all = *x
			}
		},
		func() func(*Extra) {
			fixed, saving := fixedOffloads(iface), readEEE(device)
			return func(all *Extra) { all.Fixed, all.EEE = fixed, saving }
		},
		func() func(*Extra) {
			f, why := readFirewall(port)
			return func(all *Extra) { all.Firewall, all.FirewallNot = f, why }
		},
	})
}

// extra reads the files.
func (r files) extra(device string) *Extra {
	x := &Extra{Device: device, ClockSources: strings.Fields(r.read(clocks))}
	count, ok := r.number(conntrackAt + "count")
	most, too := r.number(conntrackAt + "max")
	if ok && too {
		x.Conntrack = &Conntrack{count, most}
	}
	x.Unit = unitOf(r.read("/proc/self/cgroup"))
	for _, name := range r.names(cpufreq) {
		if p := (Policy{Name: name, Governor: r.read(cpufreq + name + "/scaling_governor")}); strings.HasPrefix(name, "policy") && p.Governor != "" {
			p.Available = strings.Fields(r.read(cpufreq + name + "/scaling_available_governors"))
			x.Policies = append(x.Policies, p)
		}
	}
	if x.Device != "" && r.describes(x.Device) {
		r.device(x)
	}
	return x
}

// unitOf returns the systemd unit of a control group, which is the last unit in its path
// (cgroups(7)), or an empty string if the path has no unit.
func unitOf(cgroup string) string {
	for line := range strings.Lines(cgroup) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 || parts[1] != "" && parts[1] != "name=systemd" {
			continue
		}
		name := path.Base(parts[2])
		if kind := path.Ext(name); (kind == ".service" || kind == ".scope") && !strings.ContainsFunc(name, isUnsafe) {
			return name
		}
	}
	return ""
}

// isUnsafe reports whether a shell would take a character for something else than a part of a name.
func isUnsafe(r rune) bool {
	return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune("._-@:", r)
}

// describes reports whether the files are of this interface, and not of one of its name in another
// network namespace.
func (r files) describes(iface string) bool {
	if r != "" {
		return true
	}
	i, err := net.InterfaceByName(iface)
	if err != nil {
		return false
	}
	index, ok := r.number(classNet + iface + "/ifindex")
	return ok && int(index) == i.Index
}

func (r files) device(x *Extra) {
	dir := classNet + x.Device
	x.Duplex = r.read(dir + "/duplex")
	for _, name := range r.names(dir + "/queues") {
		if strings.HasPrefix(name, "rx-") {
			x.Queues = append(x.Queues, name)
		}
	}
	numbers := r.names(dir + "/device/msi_irqs")
	if len(numbers) == 0 {
		numbers = r.names(dir + "/device/../msi_irqs") // virtio: those of the PCI device that it is on
	}
	for _, text := range numbers {
		n, err := strconv.Atoi(text)
		cpus := r.read("/proc/irq/" + text + "/effective_affinity_list")
		if err == nil && cpus != "" {
			x.Interrupts = append(x.Interrupts, Interrupt{n, cpus})
		}
	}
	x.Balancer = len(x.Interrupts) > 0 && r.runs("irqbalance")
}

// runs reports whether a process of that name runs.
func (r files) runs(name string) bool {
	found, _ := filepath.Glob(string(r) + "/proc/[0-9]*/comm")
	return slices.ContainsFunc(found[:min(len(found), mostProcesses)], func(file string) bool {
		return r.read(strings.TrimPrefix(file, string(r))) == name
	})
}

// features are the kernel's names of an offload of ethtool.
var features = map[string][]string{
	"tso": {"tx-tcp-segmentation"}, "gso": {"tx-generic-segmentation"}, "gro": {"rx-gro"}, "sg": {"tx-scatter-gather"},
	"rx": {"rx-checksum"}, "tx": {"tx-checksum-ip-generic", "tx-checksum-ipv4"},
}

// fixedOffloads returns the offloads that the driver does not let change, or nil if the driver does
// not report them.
func fixedOffloads(iface string) map[string]bool {
	e, err := host.OpenEthtool(iface)
	if err != nil {
		return nil
	}
	defer e.Close()
	has, err := e.Features()
	if err != nil || len(has) == 0 {
		return nil
	}
	fixed := map[string]bool{}
	for name, kernel := range features {
		fixed[name] = !slices.ContainsFunc(kernel, func(k string) bool { return has[k].Changeable })
	}
	return fixed
}

// readEEE is nil where the device has none (ETHTOOL_GEEE).
func readEEE(iface string) *EEE {
	e, err := host.OpenEthtool(iface)
	if err != nil {
		return nil
	}
	defer e.Close()
	// struct ethtool_eee: command, supported, advertised, advertised by the other end, active,
	// enabled, low power idle, its timer, two reserved.
	answer := [10]uint32{unix.ETHTOOL_GEEE}
	if e.Call(unsafe.Pointer(&answer)) != nil || answer[1] == 0 {
		return nil
	}
	return &EEE{Active: answer[4] != 0, Enabled: answer[5] != 0}
}

// rightsOr is why something could not be read.
func rightsOr(err error) Reason {
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return NeedsRights
	}
	return Unreadable
}

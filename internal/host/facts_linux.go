package host

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/vishvananda/netlink"

	"soku/internal/host/cloud"
	"soku/internal/measure"
)

// maxFile bounds what is read of one file of the system.
const maxFile = 1 << 20

// read returns a file's text without space around it, or "".
func read(path string) string {
	return readMost(path, maxFile)
}

// readMost is read for at most the first bytes of a file.
func readMost(path string, most int64) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, most))
	return strings.TrimSpace(string(b))
}

func systemFacts(ctx context.Context, f *measure.Facts) {
	f.Distribution = distribution(read("/etc/os-release"))
	f.Kernel = kernelRelease()
	f.Virtual = virtualization()
	f.Governor = governor()
	if load, _, ok := strings.Cut(read("/proc/loadavg"), " "); ok {
		f.Load1, _ = strconv.ParseFloat(load, 64)
	}
	f.ClockSource = read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
	f.Congestion = sysctl("net.ipv4.tcp_congestion_control")
	f.Sysctl = sysctls()
	if f.Interface == "" || ctx.Err() != nil {
		return
	}
	card(f)
	f.Qdisc = qdisc(f.Interface)
}

// governor is the frequency governor of the processors, all of them joined
// where they differ.
func governor() string {
	const most = 1024 // processors looked at
	files, _ := filepath.Glob("/sys/devices/system/cpu/cpufreq/policy*/scaling_governor")
	var found []string
	for _, file := range files[:min(len(files), most)] {
		if g := read(file); g != "" && !slices.Contains(found, g) {
			found = append(found, g)
		}
	}
	return strings.Join(found, ",")
}

// virtualization names what the machine runs in: a container by its mark in
// the file system, a hypervisor by its entries in the firmware or the processor.
func virtualization() string {
	var in []string
	if container := container(); container != "" {
		in = append(in, container)
	}
	vendor := hypervisor(read("/sys/hypervisor/type"), read("/sys/class/dmi/id/sys_vendor"), read("/sys/class/dmi/id/product_name"))
	if vendor == "" && hasHypervisorFlag(firstProcessor()) {
		vendor = "vm"
	}
	if vendor != "" {
		in = append(in, vendor)
	}
	return strings.Join(in, " in ")
}

func container() string {
	for mark, name := range map[string]string{"/.dockerenv": "docker", "/run/.containerenv": "podman"} {
		if _, err := os.Stat(mark); err == nil {
			return name
		}
	}
	if os.Getenv("KUBERNETES_SERVICE_HOST") != "" { //nolint:forbidigo // a mark of the machine, like the files above, and no setting
		return "kubernetes"
	}
	return read("/run/systemd/container")
}

// sysctlNames are the settings that change what a socket can reach.
var sysctlNames = [...]string{
	"net.core.busy_poll", "net.core.busy_read", "net.core.default_qdisc", "net.core.netdev_budget",
	"net.core.netdev_budget_usecs", "net.core.netdev_max_backlog", "net.core.optmem_max", "net.core.rmem_default", "net.core.rmem_max",
	"net.core.rps_sock_flow_entries", "net.core.somaxconn", "net.core.wmem_default", "net.core.wmem_max",
	"net.ipv4.ip_local_port_range",
	"net.ipv4.ping_group_range", "net.ipv4.tcp_adv_win_scale", "net.ipv4.tcp_autocorking", "net.ipv4.tcp_base_mss",
	"net.ipv4.tcp_ecn", "net.ipv4.tcp_limit_output_bytes", "net.ipv4.tcp_max_syn_backlog", "net.ipv4.tcp_mem", "net.ipv4.tcp_min_tso_segs", "net.ipv4.tcp_moderate_rcvbuf",
	"net.ipv4.tcp_mtu_probing", "net.ipv4.tcp_no_metrics_save", "net.ipv4.tcp_notsent_lowat", "net.ipv4.tcp_rmem",
	"net.ipv4.tcp_sack", "net.ipv4.tcp_slow_start_after_idle", "net.ipv4.tcp_syncookies", "net.ipv4.tcp_timestamps", "net.ipv4.tcp_tw_reuse",
	"net.ipv4.tcp_window_scaling", "net.ipv4.tcp_wmem", "net.ipv4.udp_mem", "net.ipv4.udp_rmem_min",
	"net.netfilter.nf_conntrack_max",
}

func sysctls() map[string]string {
	out := map[string]string{}
	for _, name := range sysctlNames {
		if v := sysctl(name); v != "" {
			out[name] = v
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// sysctl reads a setting as the calling thread's namespaces have it, its
// numbers with one space between them.
func sysctl(name string) string {
	return strings.Join(strings.Fields(read("/proc/sys/"+strings.ReplaceAll(name, ".", "/"))), " ")
}

// offloadNames maps the kernel's feature names to those of a result. A feature
// with several names is on if any of them is.
var offloadNames = [...]struct{ kernel, name string }{
	{"tx-tcp-segmentation", "tso"}, {"tx-tcp6-segmentation", "tso6"}, {"tx-generic-segmentation", "gso"},
	{"tx-udp-segmentation", "udp_gso"}, {"rx-gro", "gro"}, {"rx-gro-hw", "gro_hw"}, {"rx-lro", "lro"},
	{"rx-udp-gro-forwarding", "udp_gro_forwarding"}, {"rx-checksum", "rx_checksum"},
	{"tx-checksum-ip-generic", "tx_checksum"}, {"tx-checksum-ipv4", "tx_checksum"},
	{"rx-hashing", "rx_hash"}, {"rx-ntuple-filter", "ntuple"}, {"tx-udp_tnl-segmentation", "tunnel_tso"},
	{"tx-scatter-gather", "scatter_gather"}, {"rx-vlan-hw-parse", "rx_vlan"}, {"tx-vlan-hw-insert", "tx_vlan"},
}

// card reads what the driver of the interface says.
func card(f *measure.Facts) {
	e, err := OpenEthtool(f.Interface)
	if err != nil {
		return
	}
	defer e.Close()
	// A veth pair says 10 Gbit/s whatever it does: it has no speed of its own.
	if f.Driver, _, _ = e.name(); f.Driver != "veth" {
		f.LinkSpeedMbps = e.linkSpeed()
	}
	has, err := e.Features()
	if err != nil || len(has) == 0 {
		return
	}
	f.Offloads = map[string]bool{}
	for _, o := range offloadNames {
		if feature, ok := has[o.kernel]; ok {
			f.Offloads[o.name] = f.Offloads[o.name] || feature.On
		}
	}
}

// qdisc is the interface's root queueing discipline, with those of its queues
// for one that only spreads over them: "mq fq_codel".
func qdisc(name string) string {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return ""
	}
	all, err := netlink.QdiscList(link)
	if err != nil {
		return ""
	}
	var root string
	var below []string
	for _, q := range all {
		kind := q.Type()
		switch {
		case q.Attrs().LinkIndex != link.Attrs().Index, kind == "ingress", kind == "clsact":
		case q.Attrs().Parent == netlink.HANDLE_ROOT:
			root = kind
		case !slices.Contains(below, kind):
			below = append(below, kind)
		}
	}
	return strings.TrimSpace(root + " " + strings.Join(below, " "))
}

// bootID is drawn by the kernel at each start.
func bootID() string { return read("/proc/sys/kernel/random/boot_id") }

func instanceID() string { return instanceIn(read) }

// instanceIn finds the instance's identity in the files of the system. cloud-init
// stores the cloud's identity; without cloud-init the firmware has it: on AWS every
// user can read it, on other clouds it is the machine's UUID, which only root can read.
func instanceIn(read func(path string) string) string {
	// What cloud-init writes where no cloud named the instance is the same everywhere.
	nameless := []string{"", "nocloud", "iid-datasource-none"}
	if id := read("/var/lib/cloud/data/instance-id"); !slices.Contains(nameless, id) {
		return id
	}
	if tag := read("/sys/class/dmi/id/board_asset_tag"); strings.HasPrefix(tag, "i-") {
		return tag
	}
	return read("/sys/class/dmi/id/product_uuid")
}

func firmware() cloud.Firmware { return tree("").firmware() }

// firmware reads the tables that everybody may read.
func (t tree) firmware() cloud.Firmware {
	const id = "/sys/class/dmi/id/"
	return cloud.Firmware{
		Vendor: t.read(id + "sys_vendor"), Product: t.read(id + "product_name"),
		AssetTag: t.read(id + "chassis_asset_tag"), BIOS: t.read(id + "bios_version"),
	}
}

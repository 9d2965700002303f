package host

import (
	"strconv"
	"strings"
)

// distribution is PRETTY_NAME of an os-release file (os-release(5)).
func distribution(text string) string {
	for line := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "PRETTY_NAME="); ok {
			return strings.Trim(v, `"'`)
		}
	}
	return ""
}

// hypervisor names the hypervisor from what it calls itself: the type Xen
// writes, and the vendor and product in the firmware's table.
func hypervisor(kind, vendor, product string) string {
	both := strings.ToLower(vendor + " " + product)
	for _, known := range []struct{ text, name string }{
		{"amazon ec2", "ec2"}, {"google", "gce"}, {"alibaba", "alibaba"}, {"openstack", "openstack"},
		{"microsoft corporation virtual", "hyperv"}, {"vmware", "vmware"}, {"virtualbox", "virtualbox"},
		{"parallels", "parallels"}, {"bhyve", "bhyve"}, {"xen", "xen"}, {"kvm", "kvm"}, {"qemu", "kvm"}, {"digitalocean", "kvm"},
	} {
		if strings.Contains(both, known.text) {
			return known.name
		}
	}
	return kind
}

// modelName is what /proc/cpuinfo calls the first processor (x86 only).
func modelName(cpuinfo string) string {
	for line := range strings.Lines(cpuinfo) {
		if name, model, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(model)
		}
	}
	return ""
}

// hasHypervisorFlag reports whether /proc/cpuinfo says that the processor is a
// guest's (x86 only).
func hasHypervisorFlag(cpuinfo string) bool {
	for line := range strings.Lines(cpuinfo) {
		if name, flags, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "flags" {
			return strings.Contains(" "+strings.TrimSpace(flags)+" ", " hypervisor ")
		}
	}
	return false
}

// userHZ is how /proc/stat counts, on every architecture this builds for (proc_stat(5)).
const userHZ = 100

// processors are times of all processors together, in ns since boot.
type processors struct{ busyNs, softirqNs, stealNs int64 }

// parseStat reads the first line of /proc/stat: user nice system idle iowait
// irq softirq steal guest guest_nice. Guest time is part of user time already.
func parseStat(text string) (p processors, ok bool) {
	line, _, _ := strings.Cut(text, "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return p, false
	}
	var v [8]int64
	for i := range v {
		n, err := strconv.ParseInt(fields[i+1], 10, 64)
		if err != nil || n < 0 || n > 1<<53 {
			return p, false
		}
		v[i] = n * (1e9 / userHZ)
	}
	return processors{busyNs: v[0] + v[1] + v[2] + v[5] + v[6], softirqNs: v[6], stealNs: v[7]}, true
}

// traffic are an interface's counters.
type traffic struct{ rxBytes, txBytes, rxDropped, txDropped int64 }

// parseNetDev reads one interface of /proc/net/dev: eight columns of what came,
// eight of what went; bytes are the first and drops the fourth of each.
func parseNetDev(text, name string) (t traffic, ok bool) {
	for line := range strings.Lines(text) {
		// A name may hold colons (an alias), the columns do not.
		at := strings.LastIndexByte(line, ':')
		if at < 0 || strings.TrimSpace(line[:at]) != name {
			continue
		}
		fields := strings.Fields(line[at+1:])
		if len(fields) < 16 {
			return t, false
		}
		for i, into := range map[int]*int64{0: &t.rxBytes, 3: &t.rxDropped, 8: &t.txBytes, 11: &t.txDropped} {
			n, err := strconv.ParseInt(fields[i], 10, 64)
			if err != nil {
				return traffic{}, false
			}
			*into = n
		}
		return t, true
	}
	return t, false
}

// parseSNMP finds one counter of /proc/net/snmp, where a line of names is
// followed by a line of values and both begin with the protocol.
func parseSNMP(text, protocol, counter string) (int64, bool) {
	var names []string
	for line := range strings.Lines(text) {
		p, rest, ok := strings.Cut(line, ":")
		if !ok || p != protocol {
			continue
		}
		if names == nil {
			names = strings.Fields(rest)
			continue
		}
		values := strings.Fields(rest)
		for i, name := range names {
			if name == counter && i < len(values) {
				n, err := strconv.ParseInt(values[i], 10, 64)
				return n, err == nil
			}
		}
		return 0, false
	}
	return 0, false
}

// parseSNMP6 finds one counter of /proc/net/snmp6: a name and a value a line.
func parseSNMP6(text, counter string) (int64, bool) {
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[0] == counter {
			n, err := strconv.ParseInt(fields[1], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

package host

import "strings"

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

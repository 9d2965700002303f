package host

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

// firstProcessor is the part of /proc/cpuinfo that is about the first processor, and some
// more. No library reads only that; for hundreds of processors the kernel takes
// milliseconds to write all of it.
func firstProcessor() string { return readMost("/proc/cpuinfo", 4096) }

// ProcessorMHz is how fast the first processor runs now, 0 where the system does not
// report it.
func ProcessorMHz() float64 { return parseMHz(firstProcessor()) }

func parseMHz(cpuinfo string) float64 {
	for line := range strings.Lines(cpuinfo) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "cpu MHz" {
			mhz, _ := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return mhz
		}
	}
	return 0
}

// interruptsMost bounds what is read of the list of interrupts, which has a column
// for each processor.
const interruptsMost = 32 << 20

// Interrupts returns the sum of the interrupts, over all processors, of all lines of the system's
// list of interrupts that contain text, or false if there is no list. The text may be anywhere in
// a line, so a library that splits the list into columns does not help.
func Interrupts(text string) (int64, bool) {
	list := readMost("/proc/interrupts", interruptsMost)
	return parseInterrupts(list, text), list != ""
}

// parseInterrupts adds up the columns of numbers of the lines of /proc/interrupts
// that have wanted in them.
func parseInterrupts(list, wanted string) (total int64) {
	for line := range strings.Lines(list) {
		_, columns, ok := strings.Cut(line, ":")
		if !ok || !strings.Contains(line, wanted) {
			continue
		}
		for _, column := range strings.Fields(columns) {
			n, err := strconv.ParseInt(column, 10, 64)
			if err != nil {
				break // the numbers come first; those in a device's name are none
			}
			total += n
		}
	}
	return total
}

// Uname is what the kernel reports of itself and its host, as uname(1) prints it with
// -snrvm: name, host name, release, version and machine.
func Uname() string {
	var u unix.Utsname
	_ = unix.Uname(&u) // fails only for a bad pointer
	text := unix.ByteSliceToString
	return strings.Join([]string{text(u.Sysname[:]), text(u.Nodename[:]), text(u.Release[:]), text(u.Version[:]), text(u.Machine[:])}, " ")
}

func kernelRelease() string {
	var u unix.Utsname
	_ = unix.Uname(&u)
	return unix.ByteSliceToString(u.Release[:])
}

// processor returns how the online processors share cores, sockets and memory, or nil if the
// system does not report it.
func (t tree) processor() *measure.Processor {
	const cpus = "/sys/devices/system/cpu/"
	var logical int
	cores, sockets := map[string]bool{}, map[string]bool{}
	for _, name := range t.names(cpus) {
		if !isNumbered(name, "cpu") {
			continue
		}
		core, socket := t.read(cpus+name+"/topology/core_id"), t.read(cpus+name+"/topology/physical_package_id")
		if core == "" || socket == "" {
			continue // offline
		}
		logical++
		// Cores are numbered within a die, dies within a socket.
		cores[socket+"/"+t.read(cpus+name+"/topology/die_id")+"/"+core] = true
		sockets[socket] = true
	}
	if logical == 0 {
		return nil
	}
	p := &measure.Processor{Sockets: len(sockets), Cores: len(cores)}
	smt := logical > len(cores)
	p.SMT = &smt
	for _, name := range t.names("/sys/devices/system/node") {
		if isNumbered(name, "node") {
			p.NUMANodes++
		}
	}
	return p
}

// isNumbered reports whether name is the prefix and a number.
func isNumbered(name, prefix string) bool {
	digits, ok := strings.CutPrefix(name, prefix)
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

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

package host

import (
	"slices"
	"strings"

	"soku/internal/measure"
)

// synthetic is the driver of the interfaces of Hyper-V, whose traffic a virtual function
// carries where the machine has one.
const synthetic = "hv_netvsc"

// vendors of the adapters whose functions Azure gives to machines: NVIDIA, Microsoft (MANA).
var vendors = []string{"0x15b3", "0x1414"}

// virtualFunction finds the virtual function of a synthetic interface, or returns nil for an
// interface of another kind.
func (t tree) virtualFunction(iface string) *measure.VirtualFunction {
	if t.link(classNet+iface+"/device/driver") != synthetic {
		return nil
	}
	if name := t.joined(iface); name != "" {
		f := t.describe(name)
		if f.State = measure.VFActive; t.read(classNet+name+"/carrier") != "1" { // unreadable where it is not up
			f.State = measure.VFDown
		}
		return f
	}
	address := t.read(classNet + iface + "/address")
	for _, name := range t.names(classNet) {
		// The driver pairs the two by their addresses.
		if name != iface && address != "" && t.read(classNet+name+"/address") == address && t.link(classNet+name+"/device/subsystem") == "pci" {
			f := t.describe(name)
			f.State = measure.VFApart
			return f
		}
	}
	const devices = "/sys/bus/pci/devices/"
	for _, bus := range t.names(devices) {
		const network = "0x02"
		dir := devices + bus
		if strings.HasPrefix(t.read(dir+"/class"), network) && slices.Contains(vendors, t.read(dir+"/vendor")) && t.link(dir+"/driver") == "" {
			return &measure.VirtualFunction{State: measure.VFUnbound, Bus: bus, PCIID: t.pciID(dir)}
		}
	}
	return &measure.VirtualFunction{State: measure.VFAbsent}
}

// joined is the interface of the function that a synthetic interface uses, or "".
func (t tree) joined(iface string) string {
	for _, name := range t.lower(iface) {
		if t.link(classNet+name+"/device/subsystem") == "pci" {
			return name
		}
	}
	return ""
}

func (t tree) describe(iface string) *measure.VirtualFunction {
	dir := classNet + iface + "/device"
	return &measure.VirtualFunction{
		Interface: iface, Driver: t.link(dir + "/driver"), Bus: t.link(dir), PCIID: t.pciID(dir),
	}
}

// functionWatch counts what the virtual function of an interface moves. It holds nothing
// open.
type functionWatch struct {
	from tree
	name string // of the function's interface
	measure.FunctionBytes
}

func watchFunction(iface string) *functionWatch {
	if iface == "" {
		return nil
	}
	return tree("").watchFunction(iface)
}

// watchFunction is nil for an interface without a virtual function that it uses.
func (t tree) watchFunction(iface string) *functionWatch {
	device := t.deviceOf(iface)
	if t.link(classNet+device+"/device/driver") != synthetic || !t.describes(device) {
		return nil
	}
	w := &functionWatch{from: t, name: t.joined(device)}
	now, ok := w.read()
	if w.name == "" || !ok {
		return nil
	}
	w.FunctionBytes = now
	return w
}

// moved is what it has moved since the start: nil where there was none, or where the host
// has taken it away or given it anew.
func (w *functionWatch) moved() *measure.FunctionBytes {
	if w == nil {
		return nil
	}
	now, ok := w.read()
	if !ok || now.Rx < w.Rx || now.Tx < w.Tx {
		return nil
	}
	return &measure.FunctionBytes{Rx: now.Rx - w.Rx, Tx: now.Tx - w.Tx}
}

func (w *functionWatch) read() (measure.FunctionBytes, bool) {
	const folder = "/statistics/"
	rx, ok := w.from.number(classNet + w.name + folder + "rx_bytes")
	tx, too := w.from.number(classNet + w.name + folder + "tx_bytes")
	return measure.FunctionBytes{Rx: rx, Tx: tx}, ok && too
}

package host

import (
	"math/big"
	"net"
	"path/filepath"
	"strings"

	"soku/internal/measure"
	"soku/internal/measure/option"
)

// classNet is where the system describes interfaces.
const classNet = "/sys/class/net/"

// nic describes the device that carries the traffic of an interface, or returns nil if nothing
// is known.
func (t tree) nic(iface string) *measure.NIC {
	device := t.deviceOf(iface)
	n := &measure.NIC{}
	if device != iface {
		n.Device, n.Driver = device, t.link(classNet+device+"/device/driver")
	}
	if t.describes(device) {
		t.busFacts(n, device)
		t.steering(n, device)
		n.VirtualFunction = t.virtualFunction(device)
	}
	driverFacts(n, device)
	if *n == (measure.NIC{}) {
		return nil
	}
	return n
}

// mostBelow bounds how many interfaces can be stacked.
const mostBelow = 8

// deviceOf follows an interface that is no device, such as a VLAN, to the one below it. One
// of several, as of a bond, is none to follow.
func (t tree) deviceOf(iface string) string {
	for range mostBelow {
		if t.link(classNet+iface+"/device") != "" {
			break
		}
		below := t.lower(iface)
		if len(below) != 1 {
			break
		}
		iface = below[0]
	}
	return iface
}

// lower are the interfaces that one uses.
func (t tree) lower(iface string) (found []string) {
	for _, name := range t.names(classNet + iface) {
		if below, ok := strings.CutPrefix(name, "lower_"); ok {
			found = append(found, below)
		}
	}
	return found
}

// describes reports whether the files are of this interface: they are those of the network
// namespace in which they were mounted, where another one may have its name.
func (t tree) describes(iface string) bool {
	if t != "" {
		return true
	}
	i, err := net.InterfaceByName(iface)
	if err != nil {
		return false
	}
	index, ok := t.number(classNet + iface + "/ifindex")
	return ok && int(index) == i.Index && (len(i.HardwareAddr) == 0 || t.read(classNet+iface+"/address") == i.HardwareAddr.String())
}

func (t tree) busFacts(n *measure.NIC, iface string) {
	device := classNet + iface + "/device"
	if t.link(device+"/subsystem") == "virtio" {
		device += "/.." // what virtio is on, if that is PCI
	}
	if t.link(device+"/subsystem") == "pci" {
		if whole, err := filepath.EvalSymlinks(string(t) + device); err == nil {
			n.Bus = filepath.Base(whole)
		}
		n.PCIID = t.pciID(device)
	}
	if node, ok := t.number(device + "/numa_node"); ok && node >= 0 { // -1: it is near no node
		number := int(node)
		n.NUMANode = &number
	}
	n.TxQueueLen = t.count(classNet + iface + "/tx_queue_len")
}

// pciID is "15b3:101a" for a device with these numbers.
func (t tree) pciID(dir string) string {
	vendor, device := t.read(dir+"/vendor"), t.read(dir+"/device")
	if vendor == "" || device == "" {
		return ""
	}
	return strings.TrimPrefix(vendor, "0x") + ":" + strings.TrimPrefix(device, "0x")
}

// steering reads which processors the queues are set to, and counts the queues where the
// driver does not.
func (t tree) steering(n *measure.NIC, iface string) {
	dir := classNet + iface + "/queues/"
	var rps, xps cpuSet
	var rx, tx int
	for _, queue := range t.names(dir) {
		switch {
		case isNumbered(queue, "rx-"):
			rx++
			rps.add(t.read(dir + queue + "/rps_cpus"))
			n.RFSFlows += t.count(dir + queue + "/rps_flow_cnt")
		case isNumbered(queue, "tx-"):
			tx++
			xps.add(t.read(dir + queue + "/xps_cpus"))
		}
	}
	if rx+tx > 0 {
		n.Queues = &measure.Queues{Rx: rx, Tx: tx}
	}
	n.RPS, n.XPS = rps.steering(), xps.steering()
}

// cpuSet joins masks of processors.
type cpuSet struct {
	masks int // that are not empty
	cpus  []int
}

// add reads a mask as the kernel writes it: groups of eight hexadecimal digits with commas,
// the lowest processors last.
func (s *cpuSet) add(mask string) {
	digits := strings.ReplaceAll(mask, ",", "")
	const most = 8192 / 4 // processors that a kernel can have
	if len(digits) > most {
		return
	}
	bits, ok := new(big.Int).SetString(digits, 16)
	if !ok || bits.Sign() <= 0 {
		return
	}
	s.masks++
	for cpu := range bits.BitLen() {
		if bits.Bit(cpu) == 1 {
			s.cpus = append(s.cpus, cpu)
		}
	}
}

func (s *cpuSet) steering() *measure.Steering {
	if s.masks == 0 {
		return nil
	}
	return &measure.Steering{Queues: s.masks, CPUs: option.FormatCPUs(s.cpus)}
}

// driverFacts reads what the driver says of queues, rings and interrupts.
func driverFacts(n *measure.NIC, iface string) {
	e, err := OpenEthtool(iface)
	if err != nil {
		return
	}
	defer e.Close()
	_, n.DriverVersion, n.Firmware = e.name()
	if c, err := e.Channels(); err == nil {
		n.Queues = &measure.Queues{
			Rx: int(c.Rx), Tx: int(c.Tx), Combined: int(c.Combined),
			MaxRx: int(c.MaxRx), MaxTx: int(c.MaxTx), MaxCombined: int(c.MaxCombined),
		}
	}
	if r, err := e.Rings(); err == nil && r.MaxRx+r.MaxTx > 0 {
		n.Rings = &measure.Rings{Rx: int(r.Rx), Tx: int(r.Tx), MaxRx: int(r.MaxRx), MaxTx: int(r.MaxTx)}
	}
	n.Coalescing, n.RSS = e.coalescing(), e.rss()
}

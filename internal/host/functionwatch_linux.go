package host

import "soku/internal/measure"

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

package verdict

import "soku/internal/measure"

// connect are the figures of a test of connections.
func (f *Figures) connect(r *measure.Result, e ends) {
	c := r.Connect
	if c == nil {
		return
	}
	f.set(FailedConnections, float64(c.Failed))
	tried := float64(max(c.Opened+c.Failed, 1))
	if n, known := e.sender.sum("tcp.syn_retransmits"); known {
		f.setAt(SYNsResent, n/tried, e.sender.where, "")
	}
	// Linux always has these counters, and a document leaves out those that did not move.
	drops, known := 0.0, !e.receiver.empty() && e.receiver.linux
	for _, key := range []string{"tcp.listen_drops", "tcp.request_queue_drops"} { // an overflow is a drop, too
		n, there := e.receiver.sum(key)
		drops, known = drops+n, known || there
	}
	if known {
		f.setAt(ListenDrops, drops/tried, e.receiver.where, "")
	}
}

package measure

// MaxFlowLabel is the largest flow label of IPv6: it has 20 bits.
const MaxFlowLabel = 0xfffff

// checkSocket checks what goes together of the options that are the socket's.
func checkSocket(o *Options, _ *Spec) error {
	without := func(what, why string) error {
		return Errorf(KindUsage, "mptcp does not go with %s: %s", what, why).WithHint("leave out one of them")
	}
	switch {
	case o.FlowLabel != 0 && o.IPVersion == 4:
		return Errorf(KindUsage, "flow_label %d: IPv4 has no flow labels", o.FlowLabel).WithHint("use -6, or leave it out")
	case o.Multipath && o.FlowLabel != 0:
		return without("flow_label", "each subflow has a label of its own")
	case o.Multipath && o.TX == "zerocopy":
		return without("tx zerocopy", "Linux copies what Multipath TCP sends")
	case o.Multipath && o.RX == "discard":
		return without("rx discard", "Linux does not widen its receive window for bytes that nobody reads")
	case o.Multipath && o.Protocol == "udp":
		return without("protocol udp", "it is a kind of TCP")
	}
	return nil
}

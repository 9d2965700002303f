package option

import "soku/internal/measure"

// MaxFlowLabel is the largest flow label of IPv6: it has 20 bits.
const MaxFlowLabel = 0xfffff

// checkSocket checks what goes together of the options that are the socket's.
func checkSocket(o *measure.Options, _ *Spec) error {
	switch {
	case o.FlowLabel != 0 && o.IPVersion == 4:
		return measure.Fail(measure.KindUsage, "option.flow_label.ipv4", measure.Figures{"flow_label": o.FlowLabel})
	case o.Multipath && o.FlowLabel != 0:
		return measure.Fail(measure.KindUsage, "option.mptcp.flow_label", nil).WithHintCode("leave_out_one", nil)
	case o.Multipath && o.TX == "zerocopy":
		return measure.Fail(measure.KindUsage, "option.mptcp.zerocopy", nil).WithHintCode("leave_out_one", nil)
	case o.Multipath && o.RX == "discard":
		return measure.Fail(measure.KindUsage, "option.mptcp.discard", nil).WithHintCode("leave_out_one", nil)
	}
	return nil
}

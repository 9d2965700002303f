package measure

// checkEthr refuses what cannot be measured with a server of Ethr: its protocol has no
// field for it, or its end does nothing of the kind.
func (o *Options) checkEthr(s *Spec) error {
	code := ""
	switch s.Name {
	case TestTCP:
		code = o.ethrTCP()
	case TestUDP:
		if o.Direction != Forward {
			return Fail(KindUsage, "option.ethr.udp_direction", Figures{"direction": o.Direction}).WithHintCode("leave_out_one", nil)
		}
	}
	if code != "" {
		return Fail(KindUsage, code, nil).WithHintCode("leave_out_one", nil)
	}
	if s.ViaEthr == nil {
		return nil
	}
	return s.ViaEthr(*o)
}

// ethrTCP is the code of the failure for an option that is set and that Ethr's TCP test
// does not have; empty for none.
func (o *Options) ethrTCP() string {
	switch {
	case o.Direction == Bidirectional:
		return "option.ethr.bidirectional"
	case o.Verify:
		return "option.ethr.verify"
	case o.WithLatency:
		return "option.ethr.with_latency"
	}
	return ""
}

package measure

// Refusal is an option that cannot be had from the program at the far end.
type Refusal struct {
	Asked  bool
	Option string // with its value, where the option has other values that can be had
	Why    string
}

// checkEthr refuses what cannot be measured with a server of Ethr: it has no word
// for it, or its end does nothing of the kind.
func (o *Options) checkEthr(s *Spec) error {
	test := s.Name
	refusals := []Refusal{
		{test == TestTCP && o.Direction == Bidirectional, "direction bidirectional", "one test has one direction; start two"},
		{test == TestTCP && o.Verify, "verify", "the server does not say what it sends, and does not check what it gets"},
		{test == TestTCP && o.WithLatency, "with_latency", "the server has no probes beside a load; use the latency test for the idle path"},
		{test == TestUDP && o.Direction != Forward, "direction " + string(o.Direction), "the server receives datagrams and sends none"},
		{test == TestLatency && o.Protocol == "udp", "protocol udp", "the server answers messages over TCP only"},
		{test == TestLatency && o.RequestRate > 0, "request_rate", "the server answers one message after the other"},
		{test == TestLatency && o.OneWay, "one_way", "the server tells no times of its own"},
		{test == TestLatency && o.Stamps == StampsSplit, "stamps " + StampsSplit, "the server tells no times of its own"},
		{test == TestLatency && o.Spin == "on", "spin on", "the server always sleeps until a message comes"},
	}
	if s.ViaEthr != nil {
		refusals = append(refusals, s.ViaEthr(*o)...)
	}
	for _, r := range refusals {
		if r.Asked {
			return Errorf(KindUsage, "%s does not go with via %s: %s", r.Option, o.Via, r.Why).WithHint("leave out one of them")
		}
	}
	return nil
}

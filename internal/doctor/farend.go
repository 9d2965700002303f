package doctor

import "soku/internal/measure"

// farSubject is what the server reported of its host. Results do not have all that [Extra] has.
func farSubject(h *measure.Host, w Wanted) *Subject {
	return &Subject{Readings: Readings{Far: true, Facts: h.Facts, Sample: sampleOf(h)}, Wanted: w}
}

// sampleOf returns the counters of a host in a result, or nil if the result has none.
func sampleOf(h *measure.Host) *Sample {
	if h == nil || h.Counters == nil || h.Counters.WallNs <= 0 {
		return nil
	}
	c := h.Counters
	return &Sample{
		WallNs: c.WallNs, CPUs: h.Facts.CPUs, BusyNs: max(c.CPUBusyNs-c.ProcessUserNs-c.ProcessSysNs, 0), StealNs: c.CPUStealNs,
		StealKnown: h.Facts.OS == linux, SentBytes: c.TxBytes, RecvBytes: c.RxBytes, Traffic: h.Facts.Interface != "",
		Counters: map[string]int64{"interface.sent_dropped": c.TxDropped, "interface.received_dropped": c.RxDropped},
	}
}

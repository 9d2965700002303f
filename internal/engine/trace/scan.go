package trace

const (
	// window is how many probes a scan has outstanding: all but one may turn out to be
	// beyond the target, and a target answers only a few a second. After silent hops it is
	// wideWindow, because waiting for each would take long.
	window, wideWindow = 2, 6
	// firstSilence and laterSilence are how many hops beyond the last answer a scan
	// probes, in the first round and in later ones.
	firstSilence, laterSilence = 10, 4
	// mostScans is how many flows look for the end of the path in the first round.
	mostScans = 4
)

// scan is one flow that looks for the end of its path, ahead of all others: how far the
// others have to look is then known.
type scan struct {
	index   int
	flow    *flow
	next    int // hop
	silence int
}

// beginScan starts a scan if no flow knows an end.
func (t *tracer) beginScan() {
	if t.ended || t.scan != nil {
		return
	}
	index, silence := int((t.round-1)%int64(len(t.flows))), laterSilence
	if t.round <= 1 {
		index, silence = t.scans, firstSilence
		t.scans++
	}
	t.scan = &scan{index: index, flow: t.flows[index], next: t.front + 1, silence: silence}
}

// nextOfScan returns the next probe of the scan, nil if none may be sent now.
func (t *tracer) nextOfScan() *sent {
	s := t.scan
	if s == nil {
		return nil
	}
	f := s.flow
	seen := max(t.front, f.expired)
	limit := min(len(f.cells), seen+s.silence)
	switch {
	case t.ended || s.next > limit && f.open == 0:
		t.scan = nil
		if t.round <= 1 && t.scans < min(mostScans, len(t.flows)) {
			t.beginScan()
		}
		return nil
	case s.next > limit, f.serial && f.open > 0, f.open >= s.window(seen):
		return nil
	}
	s.next++
	return &sent{flow: s.index, hop: s.next - 1}
}

// window returns how many probes may be outstanding, if answers came up to hop seen.
func (s *scan) window(seen int) int {
	if s.next-seen > window+1 {
		return wideWindow
	}
	return window
}

package lab

import "soku/internal/measure"

// policeTime is the size of a policer's bucket as time at its rate.
const policeTime = 0.050 // seconds

// policer is a token bucket without a queue. The bucket has any size, unlike that of the kernel's
// limit of bytes, which always lets a burst of one second of its rate pass.
type policer struct {
	perSecond float64 // bytes of Ethernet frames
	most      float64 // size of the bucket in bytes
	tokens    float64
	at        int64 // ns, of the last packet
}

// newPolicer begins with a full bucket.
func newPolicer(perSecond, most float64) *policer {
	return &policer{perSecond: perSecond, most: most, tokens: most}
}

// admit reports whether a frame of n bytes passes at the moment now in ns. Moments do not go
// back.
func (p *policer) admit(n int, now int64) bool {
	p.tokens = min(p.tokens+p.perSecond*float64(now-p.at)/1e9, p.most)
	p.at = now
	if p.tokens < float64(n) {
		return false
	}
	p.tokens -= float64(n)
	return true
}

// policeBurst is the bucket of a policer of bytes: what the file gives, at least 3 full packets as
// of a shaper, or policeTime of the rate, at least 16 full packets.
func policeBurst(l *Link, way int) measure.Size {
	w, frame := &l.Ways[way], measure.Size(l.MTU+etherBytes)
	if w.Burst > 0 {
		return max(w.Burst, 3*frame)
	}
	return max(measure.Size(float64(w.Police)/8*policeTime), 16*frame)
}

package probe

import "time"

// Nodes limit their ICMP errors (RFC 1812 section 4.3.2.8): Linux sends a burst of six to a host
// and then one a second (icmp(7), icmp_ratelimit).
const (
	// ErrorRefill is how long a node needs for one more error, a little less because answers are delayed.
	ErrorRefill = 980 * time.Millisecond
	// ErrorSpacing is the time between probes of which each is to be answered.
	ErrorSpacing = 1050 * time.Millisecond
)

package ssh

import "time"

// StallAfter shortens how long a copy may stand still.
func (o Order) StallAfter(d time.Duration) Order {
	o.stall = d
	return o
}

//go:build !linux

package series

import "time"

var began = time.Now()

// processorTime is the time that has gone by: that of a thread is not known.
func processorTime() time.Duration { return time.Since(began) }

//go:build !linux

package doctor

import (
	"context"
	"os"
)

const stealReported = false

var ownPID = os.Getpid()

// processTimes are unknown on this system.
func processTimes() map[int]Process { return nil }

func pressureKnown() []string { return nil }

// readExtra reads nothing on this system.
func readExtra(context.Context, *Subject) *Extra { return nil }

package host

import (
	"context"

	"golang.org/x/sys/unix"
)

// memory is all of this machine's memory in bytes, 0 when that is not known.
func memory(context.Context) int64 {
	var s unix.Sysinfo_t
	if unix.Sysinfo(&s) != nil {
		return 0
	}
	return int64(s.Totalram) * int64(s.Unit)
}

// cpuModel is what the processor calls itself, or empty. Other architectures have
// only numbers here, which takes a table to read.
func cpuModel(context.Context) string { return modelName(firstProcessor()) }

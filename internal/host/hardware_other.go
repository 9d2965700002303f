//go:build !(linux && amd64)

package host

import (
	"context"
	"strings"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/mem"
)

// memory is all of this machine's memory in bytes, 0 when that is not known.
func memory(ctx context.Context) int64 {
	m, err := mem.VirtualMemoryWithContext(ctx)
	if err != nil {
		return 0
	}
	return int64(m.Total)
}

// cpuModel is what the processor calls itself, or empty.
func cpuModel(ctx context.Context) string {
	c, err := cpu.InfoWithContext(ctx)
	if err != nil || len(c) == 0 {
		return ""
	}
	return strings.TrimSpace(c[0].ModelName)
}

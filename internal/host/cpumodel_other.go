//go:build !(linux && amd64)

package host

import (
	"context"
	"strings"

	"github.com/shirou/gopsutil/v4/cpu"
)

// cpuModel is what the processor calls itself, or empty.
func cpuModel(ctx context.Context) string {
	c, err := cpu.InfoWithContext(ctx)
	if err != nil || len(c) == 0 {
		return ""
	}
	return strings.TrimSpace(c[0].ModelName)
}

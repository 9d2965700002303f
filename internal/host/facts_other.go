//go:build !linux

package host

import (
	"context"
	"runtime"
	"strings"

	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/load"

	"soku/internal/measure"
)

func systemFacts(ctx context.Context, f *measure.Facts) {
	if platform, _, version, err := host.PlatformInformationWithContext(ctx); err == nil {
		f.Distribution = strings.TrimSpace(platform + " " + version)
	}
	if kernel, err := host.KernelVersionWithContext(ctx); err == nil {
		f.Kernel = kernel
	}
	if system, role, err := host.VirtualizationWithContext(ctx); err == nil && role == "guest" {
		f.Virtual = system
	}
	if f.Interface != "" {
		_, f.LinkSpeedMbps = adapter(f.Interface)
	}
	// Windows has no load average; the library would start a sampler for it.
	if runtime.GOOS != "windows" {
		if l, err := load.AvgWithContext(ctx); err == nil {
			f.Load1 = l.Load1
		}
	}
}

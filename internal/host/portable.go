//go:build !linux

package host

import (
	"context"
	"net/netip"
	"runtime"
	"strings"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/load"
	"github.com/shirou/gopsutil/v4/net"

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

// RouteMTU is unknown on this system.
func RouteMTU(netip.Addr) int { return 0 }

func detailSources(f measure.Facts) []detailSource {
	return []detailSource{func(context.Context) func(*measure.Details) {
		model, _ := adapter(f.Interface)
		if model == "" {
			return nil
		}
		return func(d *measure.Details) { d.NIC = &measure.NIC{Model: model} }
	}, func(ctx context.Context) func(*measure.Details) {
		cores, err := cpu.CountsWithContext(ctx, false)
		logical, bad := cpu.CountsWithContext(ctx, true)
		if err != nil || bad != nil || cores <= 0 {
			return nil
		}
		smt := logical > cores
		return func(d *measure.Details) { d.Processor = &measure.Processor{Cores: cores, SMT: &smt} }
	}}
}

// functionWatch exists on Linux only.
type functionWatch struct{}

func watchFunction(string) *functionWatch { return nil }

func (*functionWatch) moved() *measure.FunctionBytes { return nil }

// preferred returns addresses in the order of package net, which is that of RFC 6724 and of
// these systems.
func preferred(list []netip.Addr) []netip.Addr { return list }

// ProcessorMHz is how fast the first processor runs now, 0 where the system does not
// report it.
func ProcessorMHz() float64 { return 0 }

// Interrupts is false: this system has no list of interrupts.
func Interrupts(string) (int64, bool) { return 0, false }

// softirqReported: processor times include soft interrupts separately.
const softirqReported = false

// procRoot means nothing here.
const procRoot = ""

// source is where counters are read from: gopsutil.
type source struct{}

func newSource(string) *source { return &source{} }

func (s *source) context() context.Context { return context.Background() }

func (s *source) interfaces(ctx context.Context) ([]net.IOCountersStat, error) {
	return net.IOCountersWithContext(ctx, true)
}

func (s *source) readProtocols(*Reading) {}

func (s *source) retransmits() (Retransmits, bool) { return Retransmits{}, false }

// Uname is the system and the architecture, as Go names them.
func Uname() string { return runtime.GOOS + " " + runtime.GOARCH }

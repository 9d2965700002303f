//go:build !linux

package host

import (
	"context"

	"github.com/shirou/gopsutil/v4/net"
)

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

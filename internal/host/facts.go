package host

import (
	"context"
	"net"
	"net/netip"
	"os"
	"runtime"
	"time"

	"github.com/shirou/gopsutil/v4/mem"

	"soku/internal/measure"
)

// factsTime bounds [Facts]. The reads are local and take a few milliseconds; a
// management service of the system that hangs must not hold up a trial.
const factsTime = 150 * time.Millisecond

// Facts reads what this machine is. local is the address on the path, which
// names the interface; without one the members about the interface are absent.
// It never fails and takes less than 200 ms. It is safe for concurrent use.
func Facts(ctx context.Context, local netip.Addr) measure.Facts {
	ctx, cancel := context.WithTimeout(ctx, factsTime)
	defer cancel()
	f := measure.Facts{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: usableCPUs}
	f.Hostname, _ = os.Hostname()
	if i, ok := InterfaceOf(local); ok {
		f.Interface, f.MTU = i.Name, i.MTU
	}
	f.MemoryBytes, f.CPUModel = memory(ctx), cpuModel(ctx)
	f.Deployment = deployment()
	systemFacts(ctx, &f)
	return f
}

// memory is all of this machine's memory in bytes, 0 if that is not known.
func memory(ctx context.Context) int64 {
	m, err := mem.VirtualMemoryWithContext(ctx)
	if err != nil {
		return 0
	}
	return int64(m.Total)
}

// usableCPUs is the number of logical processors after affinity and, on Linux,
// the limit of the control group. It is read before anybody can
// raise what the runtime uses.
var usableCPUs = min(runtime.NumCPU(), runtime.GOMAXPROCS(0))

// InterfaceOf finds the interface that has the address.
func InterfaceOf(local netip.Addr) (net.Interface, bool) {
	if !local.IsValid() || local.IsUnspecified() {
		return net.Interface{}, false
	}
	interfaces, err := net.Interfaces()
	if err != nil {
		return net.Interface{}, false
	}
	want := local.Unmap()
	for _, i := range interfaces {
		if zone := want.Zone(); zone != "" && zone != i.Name {
			continue
		}
		addrs, err := i.Addrs()
		if err != nil {
			continue
		}
		for _, a := range addrs {
			n, ok := a.(*net.IPNet)
			if !ok {
				continue
			}
			have, ok := netip.AddrFromSlice(n.IP)
			if !ok {
				continue
			}
			// All of 127.0.0.0/8 is the loopback interface, whichever of it is used.
			if have.Unmap() == want.WithZone("") || want.IsLoopback() && want.Is4() && n.Contains(want.AsSlice()) {
				return i, true
			}
		}
	}
	return net.Interface{}, false
}

// deployment says which deployment of this machine runs now: nil where the
// system reports neither a boot nor an instance. All of it is read from files
// of this machine, never asked for over the network.
func deployment() *measure.Deployment {
	d := measure.Deployment{BootID: bootID(), InstanceID: instanceID()}
	if d == (measure.Deployment{}) {
		return nil
	}
	return &d
}

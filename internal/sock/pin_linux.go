package sock

import (
	"sync"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

// allowedCPUs returns the processors that this process may use, ascending: the affinity
// at its start, which includes the control group's cpuset. It is read once, before any
// thread is pinned.
var allowedCPUs = sync.OnceValues(func() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, measure.Fail(measure.KindPermission, "sock.pin.affinity", measure.Figures{"cause": err})
	}
	var out []int
	for cpu := range len(set) * 64 {
		if set.IsSet(cpu) {
			out = append(out, cpu)
		}
	}
	return out, nil
})

// keepThread pins the calling thread, which must be locked, to one processor; restore
// unpins it.
func keepThread(cpu int) (restore func() error, err error) {
	var before, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return nil, err
	}
	one.Set(cpu)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return nil, err
	}
	return func() error { return unix.SchedSetaffinity(0, &before) }, nil
}

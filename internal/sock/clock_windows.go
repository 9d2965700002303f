package sock

import (
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Now returns the current time with the resolution of the performance counter
// (QueryPerformanceCounter), 0.1 µs or better. The clock behind [time.Now] advances in
// steps of 0.5 to 15.6 ms on Windows, longer than most round trips. Both clocks run at
// the same rate, so readings of the two can be compared within about one step of the
// coarser one. A change of the system's wall clock has no effect on Now. Now does not
// allocate and is safe for concurrent use. The first call takes up to one step of the
// coarse clock.
func Now() time.Time {
	z := counterZero()
	return z.at.Add(counted(counter()-z.count, z.frequency))
}

// Since returns the time since t, which must come from [Now].
func Since(t time.Time) time.Duration { return Now().Sub(t) }

// ClockSource names the clock behind [Now].
const ClockSource = "QueryPerformanceCounter"

// zero is the same moment on both clocks.
type zero struct {
	at        time.Time
	count     int64
	frequency int64 // counts a second
}

// counterZero is read just after the runtime's clock has advanced: only then is that
// clock exact. Between two steps it is up to one step late.
var counterZero = sync.OnceValue(func() zero {
	z := zero{}
	_, _, _ = syscall.SyscallN(queryFrequency.Addr(), uintptr(unsafe.Pointer(&z.frequency))) // never fails
	longest := counter() + z.frequency/50
	first := time.Now()
	for z.at = first; z.at.Equal(first) && counter() < longest; {
		z.at = time.Now()
	}
	z.count = counter()
	return z
})

var (
	kernel32       = windows.NewLazySystemDLL("kernel32.dll")
	queryCounter   = kernel32.NewProc("QueryPerformanceCounter")
	queryFrequency = kernel32.NewProc("QueryPerformanceFrequency")
)

// counter reads the performance counter.
func counter() (count int64) {
	_, _, _ = syscall.SyscallN(queryCounter.Addr(), uintptr(unsafe.Pointer(&count)))
	return count
}

// counted converts counts to a duration without overflow.
func counted(counts, frequency int64) time.Duration {
	const second = int64(time.Second)
	return time.Duration(counts/frequency*second + counts%frequency*second/frequency)
}

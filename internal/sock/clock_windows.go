package sock

import (
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Now is [time.Now] by the performance counter (QueryPerformanceCounter), which
// counts in steps of 0.1 µs or less: the clock of the runtime moves in steps of 0.5 to
// 15.6 ms here, which is longer than most round trips. Both run at one rate, so
// readings of the two may be compared to about a step of the coarser; what
// setting the system's clock does to the wall time is not seen. It does not
// allocate and is safe for concurrent use. The first call takes up to such a step.
func Now() time.Time {
	z := counterZero()
	return z.at.Add(counted(counter()-z.count, z.frequency))
}

// Since is the time that passed since t, a reading of [Now].
func Since(t time.Time) time.Duration { return Now().Sub(t) }

// ClockSource names the clock behind [Now].
const ClockSource = "QueryPerformanceCounter"

// zero is one moment on both clocks.
type zero struct {
	at        time.Time
	count     int64
	frequency int64 // counts a second
}

// counterZero is the moment of a step of the runtime's clock, which just then
// is right; between two steps it is late by up to a whole one.
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

// counter reads the performance counter, which never fails.
func counter() (count int64) {
	_, _, _ = syscall.SyscallN(queryCounter.Addr(), uintptr(unsafe.Pointer(&count)))
	return count
}

// counted turns counts into time without overflow.
func counted(counts, frequency int64) time.Duration {
	const second = int64(time.Second)
	return time.Duration(counts/frequency*second + counts%frequency*second/frequency)
}

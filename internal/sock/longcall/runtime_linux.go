//go:build linux && (amd64 || arm64) && !race && !plainloops

package longcall

import _ "unsafe" // for go:linkname

// Available reports whether this build has [Enter], [Exit] and [Nanotime].
const Available = true

// Enter announces to the runtime that the thread is about to block in a system call, and
// releases its processor (P). [Exit] must follow in the same function.
//
//go:linkname Enter runtime.entersyscallblock
func Enter()

// Exit waits for a processor (P) of the runtime and takes it.
//
//go:linkname Exit runtime.exitsyscall
func Exit()

// Nanotime is the monotonic clock in nanoseconds from an arbitrary start. Unlike
// [time.Now] it may be called between [Enter] and [Exit].
//
//go:linkname Nanotime runtime.nanotime
func Nanotime() int64

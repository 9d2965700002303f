// Package longcall lets a thread make many system calls as one long one to the Go
// runtime: [Enter], raw system calls, [Exit]. In between the thread has no processor of
// the runtime. So no garbage collection waits for it, the runtime's monitor does not
// interrupt it, and any number of such threads leave the rest of the program alone.
// docs/decisions/0005 says what that is worth.
//
// Code between Enter and Exit must not grow the stack, allocate or store pointers. It and
// all that it calls are marked go:nosplit, so that the linker checks the stack.
//
// The functions are the runtime's own, linked by name, and this is the only package
// that does so. Where [Available] is false they are absent, and whoever uses them has a
// loop of ordinary system calls instead, behind the same build constraint:
//
//	linux && (amd64 || arm64) && !race && !plainloops
//
// Building with -tags plainloops turns them off. That costs speed and nothing else, so a
// Go release that forbids the links needs the tag and no change to the code. Builds with
// the race detector never have them, because its instrumentation grows the stack.
package longcall

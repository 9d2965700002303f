// Package longcall lets a thread make many system calls that the Go runtime sees as one
// long one: [Enter], raw system calls, [Exit]. In between the thread holds no processor
// (P) of the runtime. So garbage collection does not wait for it, the runtime's monitor
// does not interrupt it, and many such threads do not slow down the rest of the program.
// It exists for speed: a spinning latency loop has a shorter tail, and eight TCP streams carry 4 %
// more (docs/decisions/0005-latency-loops-outside-the-runtime.md).
//
// Code between Enter and Exit must not grow the stack, allocate or store pointers. That
// code and all functions that it calls are marked go:nosplit, so that the linker checks
// the stack.
//
// The functions are the runtime's own, linked by name, and this is the only package that
// does so. If [Available] is false they do not exist, and callers use a loop of ordinary
// system calls, selected by the same build constraint:
//
//	linux && (amd64 || arm64) && !race && !plainloops
//
// Building with -tags plainloops switches them off. That costs only speed, so a Go
// release that forbids such links needs the tag and no change of code. Builds with the
// race detector never have them, because its instrumentation grows the stack.
package longcall

// Package sock makes sockets with the options of a trial and reads their state from the
// kernel: TCP_INFO, queued bytes, arrival times. Its fast paths, [Writer] and [Reader],
// move bytes for loops over many sockets. Raw system calls live here behind build tags,
// each with a portable counterpart. An option that the platform lacks is an error; it is
// never ignored. [Now] is the clock of all measurements.
//
// Package sock knows no test and no protocol. It starts no goroutines except those that
// [OwnThread] waits for. docs/method.md specifies how the engines use it.
package sock

// Package sock makes sockets with the options of a trial and asks the kernel
// what it knows of them: TCP_INFO, the bytes still queued, times of arrival. It
// moves bytes for loops over many sockets ([Writer], [Reader]). It is where raw
// system calls live behind build tags, each with a portable twin; an option
// that a platform lacks is an error, never ignored. [Now] is the clock of all
// that is measured.
//
// It knows no test and no protocol, and starts no goroutines but those that
// [OwnThread] waits for. How the engines use it is specified in docs/method.md.
package sock

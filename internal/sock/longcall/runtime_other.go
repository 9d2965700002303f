//go:build !linux || !(amd64 || arm64) || race || plainloops

package longcall

// Available reports whether this build has Enter, Exit and Nanotime, which are declared
// only where it is true.
const Available = false

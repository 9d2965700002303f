// Package process holds what soku does with the processes that it starts: how
// long they live (with this one, with an open pipe, or on their own), how they
// and what they started are ended, and what they wrote last; and the lock that
// a file has as long as a process lives ([LockFile]). It starts no
// process itself but a detached one ([StartDetached]), and it knows nothing of
// what they do.
package process

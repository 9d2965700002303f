// Package floor measures what a host and this build of soku add to every
// figure by themselves, and what they reach at most: round trips, goodput,
// packets a second and the lateness of short sleeps, over the host's own
// loopback. It runs package trial, the code that measures paths, so that all a
// trial includes is in the floor too; it only chooses what to run, in [modes].
//
// The server is a process of its own. On a path the ends share nothing; inside
// one process they share the scheduler and one count of processor time, and a
// goroutine is woken where a thread of another process would be. Interleaved on
// a host of two processors, one process got 1.4 times the packets and 1.15
// times the goodput of two, and its median round trips were anywhere from 9 to
// 36 µs where two processes had 11 to 18: that is no limit of a host that
// measures a path, and the cost of either end could not be told.
//
// A floor is kept as one file a host ([File], [Decode]) for trials to be
// compared with ([Document.Usable]). The package opens no files and starts no
// processes. [Measure] starts what trial.Run starts and one locked thread for
// the sleeps, and waits for all of it.
//
// docs/reference/floor.md specifies the document.
package floor

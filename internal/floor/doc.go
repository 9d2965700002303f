// Package floor measures what a host and this build of soku add to every figure, and the
// most that they reach: round trips, goodput, packets a second and the lateness of short
// sleeps, over the host's own loopback. It runs package trial, the code that measures
// paths, so that everything a trial includes is in the floor, too; floor only chooses
// what to run, in [modes].
//
// The server is a separate process. On a path the ends share nothing; inside one process
// they share the scheduler and one count of processor time, and a wake-up is that of a
// goroutine instead of a thread of another process. Interleaved on a host of two
// processors, one process reached 1.4 times the packets and 1.15 times the goodput of
// two, and its median round trips were anywhere from 9 to 36 µs, where two processes had
// 11 to 18. So one process does not show the limit of a host that measures a path, nor
// the cost of either end.
//
// A floor is stored as one file a host ([File], [Decode]), to compare trials with
// ([Document.Usable]). The package opens no files and starts no processes. [Measure]
// starts what trial.Run starts and one locked thread for the sleeps, and waits for all of
// it.
//
// docs/reference/floor.md specifies the document.
package floor

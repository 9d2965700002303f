// Package agent runs one trial and reports it. Where the trial runs is behind one
// interface, [Place]: [Local] is this process, [Process] is a process of its own,
// on this host, on a host of a lab, or on another machine through a command such
// as ssh.
//
// The processor cost of a trial is that of its own process, so that several trials may run at
// the same time; within one process the processor time cannot be divided among trials.
// That process is "soku trial" ([Serve]). What passes between the two is specified
// at [Schema].
//
// The package measures nothing itself, which is trial's, and does not decide what
// to measure, which is for its callers.
//
// Goroutines: Process.Run starts one that waits at the start barrier and those of
// os/exec, and waits for all of them; Serve starts one that reads its input, which
// ends with that.
package agent

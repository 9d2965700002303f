// Package ssh prepares hosts for a campaign through the system's ssh: it copies the
// program there, runs a server with a one-time token, and removes all of it when the
// campaign ends, however that ends.
//
// It uses the ssh program and no library, so that a person's configuration, agent, jump
// hosts and known hosts count as they do on the command line. It never asks: what needs an
// answer fails (BatchMode).
//
// [Open] prepares a host and returns a [Session]; what passes between both ends is
// specified at hostScript and [endpoint.Schema]. The package does not decide what runs there:
// [Session.Command] makes a process of the copied program.
//
// Goroutines: a Session has two, one that reads what the host writes and one that keeps the
// session alive; both end with it. [Host] starts none.
package ssh

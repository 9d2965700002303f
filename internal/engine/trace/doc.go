// Package trace finds the hops of a path: [Run] sends probes whose hop limit expires on
// the path and records who answered, how fast and how often, for each flow separately. It
// resolves no names and draws nothing.
//
// It works in its caller's goroutine and starts none. docs/reference/trace.md specifies
// what the figures mean.
package trace

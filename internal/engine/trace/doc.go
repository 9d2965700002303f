// Package trace finds the hops of a path: [Run] sends probes whose hop limit is reached
// on the way and keeps who answered, how fast and how often, for each flow by itself.
// It resolves no names and draws nothing.
//
// It works in its caller's goroutine and starts none. What the figures mean is
// specified in docs/reference/trace.md.
package trace

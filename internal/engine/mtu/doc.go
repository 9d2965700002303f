// Package mtu finds the largest packet that a path carries unfragmented: [Run] sends
// packets that must not be fragmented and halves the interval between the largest that
// got through and the smallest that did not. What nodes on the way say of sizes
// (RFC 1191, RFC 8201) chooses the next size to try and decides nothing: only answers
// of the target do. Then packets whose hop limit is reached on the way show how far
// larger ones get.
//
// It works in its caller's goroutine and starts none. What the figures mean is
// specified in docs/reference/mtu.md.
package mtu

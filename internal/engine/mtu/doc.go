// Package mtu finds the largest packet that a path carries without fragmentation: [Run]
// sends packets that must not be fragmented and halves the interval between the largest
// that arrived and the smallest that did not. Sizes that nodes on the path report (RFC
// 1191, RFC 8201) choose the next size to try and decide nothing: only answers of the
// target do. Then packets whose hop limit expires on the path show how far larger ones
// get.
//
// It works in its caller's goroutine and starts none. docs/reference/mtu.md specifies
// what the figures mean.
package mtu

// Package capture looks at the packets that tests send over loopback. It is for tests
// on Linux and needs the right to open packet sockets.
package capture

// Package capture captures the packets that tests send over loopback. It is for tests on
// Linux and needs the privilege to open packet sockets.
package capture

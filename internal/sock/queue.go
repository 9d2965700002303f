package sock

import "net"

// receiveQueue is the receive buffer of a UDP socket when the options of a trial
// ask for none, in bytes: the usual default holds a millisecond of 1 Gbit/s, and what a
// short pause of this process lost would look like loss of the path.
const receiveQueue = 4 << 20

// RaiseQueue gives a UDP socket a receive buffer that outlasts a short pause of
// this process, as far as the system allows; on Linux a privileged process goes
// over its limit. Datagrams may come as soon as the far end knows the socket, so
// it should be raised as soon as that.
func RaiseQueue(c net.Conn) {
	if b, ok := c.(interface{ SetReadBuffer(int) error }); ok && !forceQueue(c) {
		_ = b.SetReadBuffer(receiveQueue)
	}
}

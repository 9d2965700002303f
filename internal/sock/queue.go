package sock

import "net"

// receiveQueue is the receive buffer of a UDP socket in bytes if the trial's options set
// none. The usual default holds 1 ms of 1 Gbit/s, so a short pause of this process would
// look like loss on the path.
const receiveQueue = 4 << 20

// RaiseQueue gives a UDP socket a receive buffer that outlasts a short pause of this
// process, as far as the system allows; on Linux a privileged process exceeds the limit.
// Call it before the peer learns the socket's address, because datagrams may arrive from
// then on.
func RaiseQueue(c net.Conn) {
	if b, ok := c.(interface{ SetReadBuffer(int) error }); ok && !forceQueue(c) {
		_ = b.SetReadBuffer(receiveQueue)
	}
}

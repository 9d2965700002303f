package datagram

import (
	"encoding/binary"
	"time"

	"soku/internal/sock"

	"golang.org/x/sys/unix"
)

// parseControl parses the control messages of one message: the arrival time on the wall
// clock, or zero, and the length of the datagrams that the kernel joined in it (UDP_GRO,
// udp(7)), or 0. It stops at the first message that does not parse. It does not allocate.
func parseControl(b []byte) (arrived time.Time, segment int) {
	for len(b) >= unix.SizeofCmsghdr {
		h, data, rest, err := unix.ParseOneSocketControlMessage(b)
		if err != nil {
			break
		}
		if at := sock.ArrivedIn(h, data); !at.IsZero() {
			arrived = at
		}
		if h.Level == unix.SOL_UDP && h.Type == unix.UDP_GRO && len(data) >= 4 {
			segment = int(int32(binary.NativeEndian.Uint32(data)))
		}
		b = rest
	}
	return arrived, max(0, segment)
}

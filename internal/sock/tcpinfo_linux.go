package sock

import (
	"encoding/binary"
	"math"
	"net"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

// tcpStates are the names of the kernel's enum, include/net/tcp_states.h.
var tcpStates = [...]string{
	1: "established", 2: "syn_sent", 3: "syn_recv", 4: "fin_wait1", 5: "fin_wait2", 6: "time_wait",
	7: "close", 8: "close_wait", 9: "last_ack", 10: "listen", 11: "closing", 12: "new_syn_recv",
}

// TCPInfo returns the kernel's state of c (TCP_INFO of tcp(7), and the name of the
// congestion control), or false if the kernel does not report it. For Multipath TCP, counts
// and rates are sums over all subflows and the rest is from the first subflow. It is safe
// during reads and writes of c.
func TCPInfo(c *net.TCPConn) (measure.TCPInfo, bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return measure.TCPInfo{}, false
	}
	var info *unix.TCPInfo
	var congestion string
	var infoErr error
	var paths []unix.TCPInfo
	err = raw.Control(func(fd uintptr) {
		info, infoErr = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		congestion, _ = unix.GetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION)
		paths = subflows(int(fd))
	})
	if err != nil || infoErr != nil {
		return measure.TCPInfo{}, false
	}
	t := fromKernel(info, congestion)
	if paths != nil {
		addSubflows(&t, paths)
	}
	return t, true
}

// fromKernel converts units: the kernel reports times in microseconds and rates in bytes
// a second, and uses the largest number for "no limit" and "not known yet".
func fromKernel(k *unix.TCPInfo, congestion string) measure.TCPInfo {
	t := measure.TCPInfo{
		Congestion: congestion, MSS: int64(k.Snd_mss),
		CwndSegments: int64(k.Snd_cwnd),
		RTTNs:        int64(k.Rtt) * 1000, RTTVarNs: int64(k.Rttvar) * 1000,
		Retransmits: int64(k.Total_retrans), Lost: int64(k.Lost), Reordering: int64(k.Reordering),
		ReorderEvents: int64(k.Reord_seen), SndWndBytes: int64(k.Snd_wnd),
		PMTU:        int64(k.Pmtu),
		UnackedSegs: int64(k.Unacked), NotsentBytes: int64(k.Notsent_bytes), AppLimited: appLimited(k),
		DSACKs: int64(k.Dsack_dups), Timeouts: int64(k.Total_rto), DeliveredCE: int64(k.Delivered_ce),
		SentBytes: int64(k.Bytes_sent), AckedBytes: int64(k.Bytes_acked), DataSegsOut: int64(k.Data_segs_out),
		DeliveryBps: bitsOfBytes(k.Delivery_rate), PacingBps: bitsOfBytes(k.Pacing_rate),
		BusyNs: int64(k.Busy_time) * 1000, RwndLimitedNs: int64(k.Rwnd_limited) * 1000, SndbufLimitdNs: int64(k.Sndbuf_limited) * 1000,
	}
	if int(k.State) < len(tcpStates) {
		t.State = tcpStates[k.State]
	}
	if k.Snd_ssthresh < math.MaxInt32 {
		t.SsthreshSegs = int64(k.Snd_ssthresh)
	}
	if k.Min_rtt != math.MaxUint32 {
		t.MinRTTNs = int64(k.Min_rtt) * 1000
	}
	return t
}

// appLimited is the bit tcpi_delivery_rate_app_limited of struct tcp_info, include/uapi/linux/tcp.h:
// the first bit field of the byte after the window scales, which x/sys takes for padding.
// Bit fields begin at the lowest bit on little-endian machines and at the highest on the others.
func appLimited(k *unix.TCPInfo) bool {
	const place = unsafe.Offsetof(k.Options) + 2
	bits := *(*byte)(unsafe.Add(unsafe.Pointer(k), place))
	if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		return bits&1 != 0
	}
	return bits&0x80 != 0
}

func bitsOfBytes(v uint64) int64 {
	if v > math.MaxInt64/8 {
		return 0
	}
	return int64(v) * 8
}

// Unsent returns how many bytes sent on c are not acknowledged yet (SIOCOUTQ of tcp(7)),
// also after a reset; the FIN counts as one. False if the kernel does not report it.
func Unsent(c *net.TCPConn) (int64, bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, false
	}
	var n int
	var inner error
	if err := raw.Control(func(fd uintptr) { n, inner = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) }); err != nil || inner != nil {
		return 0, false
	}
	return int64(n), true
}

// LimitPacing limits the pacing rate of c to bytesPerSecond (SO_MAX_PACING_RATE of
// socket(7)); it never raises an earlier limit. TCP paces by itself; datagrams are paced
// only if the interface has the queueing discipline fq. It reports whether the system
// accepted the limit.
func LimitPacing(c syscall.Conn, bytesPerSecond uint64) (taken bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	_ = raw.Control(func(fd uintptr) {
		rate := bytesPerSecond
		if before, err := unix.GetsockoptUint64(int(fd), unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE); err == nil && before > 0 {
			rate = min(rate, before)
		}
		taken = unix.SetsockoptUint64(int(fd), unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE, rate) == nil
	})
	return taken
}

// Unanswered reports whether c waits for an acknowledgement, of data or of a probe of a full
// receiver that was sent at least twice, and how long ago the last one came (TCP_INFO). A
// receiver that is full acknowledges probes, so that it is none that does not answer. ok is
// false if the system does not tell.
func Unanswered(c *net.TCPConn) (waits bool, last time.Duration, ok bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return false, 0, false
	}
	var info *unix.TCPInfo
	var infoErr error
	err = raw.Control(func(fd uintptr) { info, infoErr = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO) })
	if err != nil || infoErr != nil {
		return false, 0, false
	}
	return info.Unacked > 0 || info.Probes > 1, time.Duration(info.Last_ack_recv) * time.Millisecond, true
}

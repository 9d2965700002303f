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

// Indexes of SO_MEMINFO, include/uapi/linux/sock_diag.h.
const (
	memReceiveQueue  = 0 // SK_MEMINFO_RMEM_ALLOC
	memReceiveBuffer = 1 // SK_MEMINFO_RCVBUF
	memSendBuffer    = 3 // SK_MEMINFO_SNDBUF
	memSendQueue     = 5 // SK_MEMINFO_WMEM_QUEUED
	memDrops         = 8 // SK_MEMINFO_DROPS
	memInfos         = 9
)

// StateReader reads the [State] of one socket again and again without allocating. It is for one
// goroutine at a time, and safe for use during reads, writes and the closing of the socket.
type StateReader struct {
	raw  syscall.RawConn
	call func(fd uintptr)

	info   unix.TCPInfo
	length uint32 // bytes of info that the kernel wrote
	memory [memInfos]uint32
	known  int // members of memory that it wrote
}

// NewStateReader returns the reader of c, or nil if c has no socket.
func NewStateReader(c syscall.Conn) *StateReader {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil
	}
	r := &StateReader{raw: raw}
	r.call = r.ask
	return r
}

func (r *StateReader) ask(fd uintptr) {
	r.length, r.known = uint32(unsafe.Sizeof(r.info)), 0
	if _, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, fd, unix.IPPROTO_TCP, unix.TCP_INFO,
		uintptr(unsafe.Pointer(&r.info)), uintptr(unsafe.Pointer(&r.length)), 0); errno != 0 {
		r.length = 0
	}
	size := uint32(unsafe.Sizeof(r.memory))
	if _, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, fd, unix.SOL_SOCKET, unix.SO_MEMINFO,
		uintptr(unsafe.Pointer(&r.memory)), uintptr(unsafe.Pointer(&size)), 0); errno == 0 {
		r.known = int(size) / int(unsafe.Sizeof(r.memory[0]))
	}
}

// Read reads the state into s, and returns false if the socket is closed or reports nothing.
func (r *StateReader) Read(s *State) bool {
	if r == nil || r.raw.Control(r.call) != nil || r.length == 0 && r.known == 0 {
		return false
	}
	k := &r.info
	// An older kernel wrote less.
	has := func(end uintptr, v int64) int64 {
		if uintptr(r.length) < end {
			return NotKnown
		}
		return v
	}
	mss := int64(k.Snd_mss)
	const word = 4
	*s = State{
		SentBytes:       has(unsafe.Offsetof(k.Bytes_sent)+8, int64(k.Bytes_sent)),
		AckedBytes:      has(unsafe.Offsetof(k.Bytes_acked)+8, int64(k.Bytes_acked)),
		SegmentsOut:     has(unsafe.Offsetof(k.Data_segs_out)+word, int64(k.Data_segs_out)),
		Retransmits:     has(unsafe.Offsetof(k.Total_retrans)+word, int64(k.Total_retrans)),
		DSACKs:          has(unsafe.Offsetof(k.Dsack_dups)+word, int64(k.Dsack_dups)),
		Timeouts:        has(unsafe.Offsetof(k.Total_rto)+2, int64(k.Total_rto)),
		DeliveredCE:     has(unsafe.Offsetof(k.Delivered_ce)+word, int64(k.Delivered_ce)),
		UnackedBytes:    has(unsafe.Offsetof(k.Unacked)+word, int64(k.Unacked)*mss),
		NotsentBytes:    has(unsafe.Offsetof(k.Notsent_bytes)+word, int64(k.Notsent_bytes)),
		CwndBytes:       has(unsafe.Offsetof(k.Snd_cwnd)+word, int64(k.Snd_cwnd)*mss),
		SndWndBytes:     has(unsafe.Offsetof(k.Snd_wnd)+word, int64(k.Snd_wnd)),
		RTTNs:           has(unsafe.Offsetof(k.Rtt)+word, int64(k.Rtt)*1000),
		MinRTTNs:        has(unsafe.Offsetof(k.Min_rtt)+word, int64(k.Min_rtt)*1000),
		MSSBytes:        has(unsafe.Offsetof(k.Snd_mss)+word, mss),
		PMTUBytes:       has(unsafe.Offsetof(k.Pmtu)+word, int64(k.Pmtu)),
		BusyNs:          has(unsafe.Offsetof(k.Busy_time)+8, int64(k.Busy_time)*1000),
		RwndLimitedNs:   has(unsafe.Offsetof(k.Rwnd_limited)+8, int64(k.Rwnd_limited)*1000),
		SndbufLimitedNs: has(unsafe.Offsetof(k.Sndbuf_limited)+8, int64(k.Sndbuf_limited)*1000),
		CongestionState: has(unsafe.Offsetof(k.Ca_state)+1, int64(k.Ca_state)),
		AppLimited:      has(unsafe.Offsetof(k.Rto), 0),

		ReceiveQueueBytes: r.mem(memReceiveQueue), ReceiveBufferBytes: r.mem(memReceiveBuffer),
		SendQueueBytes: r.mem(memSendQueue), SendBufferBytes: r.mem(memSendBuffer), Drops: r.mem(memDrops),
	}
	if s.AppLimited == 0 && appLimited(k) {
		s.AppLimited = 1
	}
	if k.Min_rtt == math.MaxUint32 {
		s.MinRTTNs = NotKnown
	}
	return true
}

func (r *StateReader) mem(i int) int64 {
	if i >= r.known {
		return NotKnown
	}
	return int64(r.memory[i])
}

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
func Unsent(c *net.TCPConn) (int64, bool) { return queued(c, unix.SIOCOUTQ) }

// NotSent returns how many bytes written to c the kernel has not sent for the first time
// (SIOCOUTQNSD, include/uapi/linux/sockios.h). False if the kernel does not report it.
func NotSent(c *net.TCPConn) (int64, bool) { return queued(c, unix.SIOCOUTQNSD) }

// queued returns the number of bytes that a request of ioctl(2) reports of c.
func queued(c *net.TCPConn, request uint) (int64, bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, false
	}
	var n int
	var inner error
	if err := raw.Control(func(fd uintptr) { n, inner = unix.IoctlGetInt(int(fd), request) }); err != nil || inner != nil {
		return 0, false
	}
	return int64(n), true
}

// Received returns how many payload bytes have arrived in order on c (tcpi_bytes_received of
// tcp(7)), read and unread, or false if the kernel does not report it or the socket is closed. It
// is of no use for Multipath TCP, whose subflows count their own: see [Consumed].
func Received(c *net.TCPConn) (int64, bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, false
	}
	var n int64
	known := false
	if raw.Control(func(fd uintptr) { n, known = received(int(fd)) }) != nil {
		return 0, false
	}
	return n, known
}

// Consumed returns how many of the bytes of [Received] the program has read. It is unknown for
// Multipath TCP, and where bytes arrive so fast that the two counts of the kernel never belong
// together.
func Consumed(c *net.TCPConn) (n int64, known bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, false
	}
	const attempts = 10
	_ = raw.Control(func(fd uintptr) {
		if madeMultipath(int(fd)) {
			return
		}
		for range attempts {
			before, ok := received(int(fd))
			unread, err := unix.IoctlGetInt(int(fd), unix.SIOCINQ)
			after, _ := received(int(fd))
			if !ok || err != nil {
				return
			}
			if before == after {
				n, known = before-int64(unread), true
				return
			}
		}
	})
	return n, known
}

// received is tcpi_bytes_received, which counts the FIN as a byte.
func received(fd int) (n int64, known bool) {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil || info.State == unix.BPF_TCP_CLOSE {
		return 0, false
	}
	n = int64(info.Bytes_received)
	if info.State == unix.BPF_TCP_CLOSE_WAIT || info.State == unix.BPF_TCP_LAST_ACK || info.State == unix.BPF_TCP_CLOSING || info.State == unix.BPF_TCP_TIME_WAIT {
		n--
	}
	return n, true
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

package sock

import (
	"math"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
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

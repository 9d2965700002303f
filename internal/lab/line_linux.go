package lab

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
	"soku/internal/sock"
)

// The delay line is one thread that reads a packet from one TAP device, holds it for the
// delay, and writes it to the other, unchanged. A kernel timer fires tens of microseconds
// late, so the thread sleeps only until shortly before a packet is due and then polls the
// clock. It stays awake for a moment after each packet, because the answer usually arrives
// immediately, and yields to other threads meanwhile, which the packet may have woken. With no
// packets in flight it sleeps until one arrives. This wake-up takes tens of microseconds,
// too, so the kernel's time stamp shows when that packet arrived (see openStamps).

const (
	// awake is how long the line polls for the next packet before it sleeps.
	awake = 500 * time.Microsecond
	// giveWay is how long after a packet was sent the line yields to other threads.
	giveWay = 100 * time.Microsecond
	// alone is how shortly before a packet is due the line only polls the clock.
	alone = 10 * time.Microsecond
	// handing is the minimum time that the kernel takes to carry a packet through the
	// other device: measured between time stamps of packet sockets on both.
	handing = 2 * time.Microsecond
	// A thread that keeps the processor for longer than taken was not woken to answer a
	// packet; then the line does not yield for the time greedy.
	taken  = 500 * time.Microsecond
	greedy = 50 * time.Millisecond
	// batch is how many packets it reads from one device before it checks the others.
	batch = 8
	// frameHeader is the length of struct virtio_net_hdr, with which the kernel begins a
	// frame.
	frameHeader = 10

	ringSlots = 1 << 16
	ringMost  = 64 << 20 // bytes
)

// direction is one direction of a link.
type direction struct {
	in, out       int
	delay, jitter int64
	loss          float64
	chance        *rand.Rand
	police        *policer // nil: none
	ring          *ring
	record        recorder
	empty         int64 // when the device was last empty
	stamps        int   // socket with the times of arrival
	stamped       sock.StampedReader
}

type line struct {
	directions []*direction
	watched    []unix.PollFd // one element a direction, then the one that stops the line
	begin      time.Time
	wake       int64 // wake-up time, ns
	lastPacket int64
	lastHand   int64  // when a packet left
	greedyTo   int64  // until when it does not yield
	overflow   []byte // buffer for packets that are dropped
	stopped    atomic.Bool
}

// DelayLine carries the packets of the delayed links of the lab with this state file,
// until ctx ends or the devices are closed. The TAP devices and the record are inherited
// open files, with the numbers in the state file. It calls ready when packets move. It
// should have a process of its own: it switches garbage collection off and raises its
// thread's priority.
func DelayLine(ctx context.Context, stateFile string, ready func()) error {
	if err := delayLine(ctx, stateFile, ready); err != nil {
		return measure.Fail(measure.KindInternal, "lab.delay_line", measure.Figures{"cause": err})
	}
	return nil
}

func delayLine(ctx context.Context, stateFile string, ready func()) error {
	s, err := readState(filepath.Dir(stateFile))
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	l, err := newLine(s.Lines)
	if err != nil {
		return err
	}
	stop, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return err
	}
	l.watched = append(l.watched, unix.PollFd{Fd: int32(stop), Events: unix.POLLIN})
	unwatch := context.AfterFunc(ctx, func() {
		l.stopped.Store(true)
		_, _ = unix.Write(stop, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	})
	defer unwatch()
	urgent()
	l.calibrate()
	ready()
	return l.run()
}

func newLine(specs []lineSpec) (*line, error) {
	l := &line{begin: time.Now(), overflow: make([]byte, maxFrame)}
	record, err := unix.Mmap(recordFD, 0, recordBytes(len(specs)), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		return nil, fail("lab.line.map_record", measure.Figures{"cause": err})
	}
	for i, c := range specs {
		size := min(int(1.25e9*float64(c.Delay+c.Jitter)/1e9)+4<<20, ringMost) // 10 Gbit/s
		data, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
		if err != nil {
			return nil, fail("lab.line.memory", measure.Figures{"size_bytes": size, "cause": err})
		}
		if err := unix.SetNonblock(c.InFD, true); err != nil {
			return nil, fail("lab.line.device", measure.Figures{"from": c.From, "to": c.To, "cause": err})
		}
		d := &direction{
			in: c.InFD, out: c.OutFD, stamps: c.StampFD, delay: c.Delay, jitter: c.Jitter, loss: c.Loss,
			chance: rand.New(rand.NewPCG(c.Seed, 0)), ring: newRing(data, ringSlots),
			record: recorder(record[recordHeader+i*recordDirection:][:recordDirection]),
		}
		if c.PoliceBps > 0 {
			d.police = newPolicer(float64(c.PoliceBps)/8, float64(c.PoliceBurst))
		}
		l.directions = append(l.directions, d)
		l.watched = append(l.watched, unix.PollFd{Fd: int32(c.InFD), Events: unix.POLLIN})
	}
	return l, nil
}

// urgent asks the scheduler to run this thread before others, with timers precise to the
// nanosecond. If it refuses, the line is less precise, which its record shows.
func urgent() {
	// Sessions share the processor as groups; the nice value of a thread counts only inside its own.
	_ = os.WriteFile("/proc/self/autogroup", []byte("-20"), 0)
	// A short slice makes it run as soon as it wakes up, not when the slice of
	// the running thread is used up (kernels since 6.12; older ones ignore it).
	attr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL, Nice: -20, Runtime: uint64(100 * time.Microsecond)}
	if unix.SchedSetAttr(0, &attr, 0) != nil {
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, -20)
	}
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
}

func (l *line) now() int64 { return int64(time.Since(l.begin)) }

// calibrate measures the wake-up time: how late sleeps of 1 ms end.
func (l *line) calibrate() {
	var late []int64
	for range 31 {
		before := l.now()
		_ = l.poll(int64(time.Millisecond))
		late = append(late, l.now()-before-int64(time.Millisecond))
	}
	slices.Sort(late)
	l.wake = min(max(late[len(late)/2], 0), int64(200*time.Microsecond))
}

// poll sleeps up to ns, until a packet arrives or the line is stopped; ns < 0 means no
// limit.
func (l *line) poll(ns int64) error {
	var timeout *unix.Timespec
	if ns >= 0 {
		timeout = new(unix.NsecToTimespec(ns))
	}
	_, _, e := unix.Syscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&l.watched[0])), uintptr(len(l.watched)), uintptr(unsafe.Pointer(timeout)), 0, 0, 0)
	if e != 0 && e != unix.EINTR {
		return e
	}
	return nil
}

// run moves packets until it is stopped or a device is closed.
func (l *line) run() error {
	for !l.stopped.Load() {
		next := l.release()
		if wait := l.wait(next); wait != 0 {
			for _, d := range l.directions {
				d.forget()
			}
			if err := l.poll(wait); err != nil {
				return fail("lab.line.wait", measure.Figures{"cause": err})
			}
		}
		took, err := l.look()
		if err != nil {
			return err
		}
		if !took {
			l.yield()
		}
	}
	return nil
}

// yield yields to the threads that the last packet woke: they may wait for this
// processor.
func (l *line) yield() {
	now := l.now()
	if now-l.lastHand > int64(giveWay) || now < l.greedyTo {
		return
	}
	_, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
	if back := l.now(); back-now > int64(taken) {
		l.greedyTo = back + int64(greedy)
	}
}

// look reads the devices and reports whether there were packets.
func (l *line) look() (took bool, err error) {
	for _, d := range l.directions {
		n, err := l.take(d)
		if err != nil {
			return took, err
		}
		took = took || n > 0
	}
	return took, nil
}

// wait returns how long to sleep if the next packet is due at next: 0 while packets
// arrive or one is nearly due, -1 for no limit.
func (l *line) wait(next int64) int64 {
	now := l.now()
	if now-l.lastPacket < int64(awake) {
		return 0
	}
	if next == math.MaxInt64 {
		return -1
	}
	return max(next-now-2*l.wake-int64(20*time.Microsecond), 0)
}

// take reads up to a batch from a device, and returns the number of packets.
func (l *line) take(d *direction) (packets int, err error) {
	for packets < batch {
		room := d.ring.space()
		full := room == nil
		if full {
			room = l.overflow
		}
		n, _, e := unix.RawSyscall(unix.SYS_READ, uintptr(d.in), uintptr(unsafe.Pointer(&room[0])), uintptr(len(room)))
		now := l.now()
		if e == unix.EAGAIN || e == unix.EINTR {
			d.empty = now
			return packets, nil
		}
		if e != 0 {
			return packets, fail("lab.line.read", measure.Figures{"cause": e})
		}
		packets++
		l.lastPacket = now
		switch {
		case d.loss > 0 && d.chance.Float64() < d.loss:
			d.record.add(countLost, 1)
		case full:
			d.record.add(countOverflow, 1)
		case d.police != nil && !d.police.admit(int(n)-frameHeader, now):
			d.record.add(countPoliced, 1)
		default:
			arrived := l.arrival(d, now)
			due := arrived + d.delay
			if d.jitter > 0 {
				due += d.chance.Int64N(2*d.jitter+1) - d.jitter
			}
			d.ring.push(int(n), arrived, due)
		}
	}
	d.empty = l.now()
	return packets, nil
}

// arrival returns when the packet just read arrived: after the device was last empty, or,
// if that is long ago because the line slept or waited for a processor, at the kernel's
// time stamp.
func (l *line) arrival(d *direction, now int64) int64 {
	const short = int64(10 * time.Microsecond)
	if now-d.empty < short {
		return d.empty + (now-d.empty)/2
	}
	for {
		_, arrived, err := d.stamped.Read(d.stamps, nil)
		if err != nil {
			return now // its stamp was dropped
		}
		clock := time.Now()
		if at := int64(clock.Sub(l.begin) - sock.Late(arrived, clock)); at > d.empty { // otherwise it belongs to an earlier packet
			return min(at, now)
		}
	}
}

// forget empties the socket of stamps before the line sleeps.
func (d *direction) forget() {
	for {
		if _, _, err := d.stamped.Read(d.stamps, nil); err != nil {
			return
		}
	}
}

// release sends every packet that is due and returns when the next one is, math.MaxInt64
// for none. It visits all directions in turn, so that a burst in one does not delay the
// others.
func (l *line) release() int64 {
	for {
		next := int64(math.MaxInt64)
		worked := false
		for _, d := range l.directions {
			s := d.ring.oldest()
			if s == nil {
				continue
			}
			now, leave := l.now(), s.due-int64(handing)
			for leave > now && leave < now+int64(alone) {
				now = l.now()
			}
			if leave > now {
				next = min(next, leave)
				continue
			}
			d.hand(s, now)
			l.lastPacket, l.lastHand = now, now
			worked = true
		}
		if !worked {
			return next
		}
	}
}

func (d *direction) hand(s *slot, now int64) {
	p := d.ring.data[s.at:][:s.n]
	_, _, e := unix.RawSyscall(unix.SYS_WRITE, uintptr(d.out), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
	if e != 0 {
		d.record.add(countFailed, 1)
	} else {
		d.record.add(countPackets, 1)
		d.record.add(countBytes, uint64(len(p)-frameHeader))
		d.record.delay(now + int64(handing) - s.arrived)
	}
	d.ring.pop()
}

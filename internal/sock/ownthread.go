package sock

import (
	"runtime"
	"syscall"
)

// OwnThread runs work on a thread of the system that is made for it and ends after
// it, and waits until work is over. used are the sockets that work moves bytes over.
// One that is closed meanwhile is closed when work is over.
//
// On Linux that thread has a table of descriptors of its own. A table that several
// threads share makes every system call count itself in and out of its socket with
// two atomic operations, 10 to 15 ns on a processor of 2025: of a round trip of
// 2.4 µs, which takes four calls that count, 2 to 3 %. So in work there are no
// sockets and pipes of the process but used, and what work itself opened or closed
// would be so for that thread alone: it does neither, and reads and writes nothing else.
func OwnThread(used []syscall.RawConn, work func()) {
	holding(used, func() { ownThread(used, work) })
}

// holding keeps the descriptors of connections open while do runs. Whoever lets go of
// one last closes it, which on a thread with a table of its own would close nothing of
// the process.
func holding(conns []syscall.RawConn, do func()) {
	if len(conns) == 0 {
		do()
		return
	}
	held := false
	_ = conns[0].Control(func(uintptr) { held = true; holding(conns[1:], do) })
	if !held { // it is closed already, which work will find out
		holding(conns[1:], do)
	}
}

func ownThread(used []syscall.RawConn, work func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if firstThread() {
			// It ends only with the process, and would keep what it has open.
			ownThread(used, work)
			runtime.UnlockOSThread()
			return
		}
		// Never unlocked, so that nothing else ever runs on this thread.
		defer ownDescriptors(used)()
		work()
	}()
	<-done
}

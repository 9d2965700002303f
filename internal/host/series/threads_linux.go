package series

import (
	"os"
	"path"

	"golang.org/x/sys/unix"
)

const (
	// mostThreads is how many threads are read. Of a process that has more nothing is known
	// of them: which is busiest would cost a file for each.
	mostThreads = 80
	// ownLinks are the links of the folder that are not threads.
	ownLinks = 2
	// relist is how many readings go by before the threads are listed again although their
	// number is the same: one may have ended and another begun.
	relist = 20
)

// threads are those of this process by /proc/PID/task/TID/schedstat: time on a processor and
// time waiting for one, ns (Documentation/scheduler/sched-stats.rst).
func (r roots) threads() Source {
	dir := path.Join(r.proc, "self/task")
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_DIRECTORY, 0)
	if err != nil {
		return none()
	}
	t := &threads{dir: dir, fd: fd, known: map[string]*thread{}}
	t.count = t.links()
	t.list()
	if len(t.known) == 0 {
		t.close()
		return none()
	}
	return Source{
		Columns: counters("process.run_ns", "process.wait_ns", "thread.busiest_ns", "thread.busiest_run_ns", "thread.busiest_wait_ns"),
		Read:    t.read, Close: t.close,
	}
}

// threads sums up what the threads of this process do. A counter of a thread that has ended
// is lost, so that what all have done is added up from one reading to the next.
type threads struct {
	dir    string
	fd     int // of it
	known  map[string]*thread
	order  []*thread
	count  uint64
	listed int // readings since
	seen   bool

	total [5]int64 // of the columns
	stat  unix.Stat_t
}

type thread struct {
	file      *file
	run, wait int64
	there     bool
}

// links is the number of links of the folder of threads, which follows their number.
func (t *threads) links() uint64 {
	if unix.Fstat(t.fd, &t.stat) != nil {
		return 0
	}
	return uint64(t.stat.Nlink) //nolint:unconvert // of another size on other processors
}

// list opens the threads that are new.
func (t *threads) list() {
	t.listed = 0
	dir, err := os.Open(t.dir)
	if err != nil {
		return
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(mostThreads)
	for _, name := range names {
		if t.known[name] != nil {
			continue
		}
		if f := openFile(path.Join(t.dir, name, "schedstat")); f.ok() {
			// One that began after the first reading has done all that it did since.
			one := &thread{file: f, there: t.seen}
			t.known[name] = one
			t.order = append(t.order, one)
		}
	}
}

func (t *threads) read(row []int64) {
	n := t.links()
	if n > mostThreads+ownLinks {
		t.forgetAll()
		t.count = n
		return
	}
	if n != t.count || t.listed >= relist {
		t.count = n
		t.list()
	}
	t.listed++
	var run, wait int64
	var busiest, busiestRun int64
	kept := t.order[:0]
	for _, one := range t.order {
		var now [2]int64
		if !numbers(one.file.read(), now[:]) {
			t.forget(one)
			continue
		}
		kept = append(kept, one)
		ran, waited := max(0, now[0]-one.run), max(0, now[1]-one.wait)
		one.run, one.wait = now[0], now[1]
		if !one.there {
			one.there = true // since when it ran is not known
			continue
		}
		run += ran
		wait += waited
		if ran+waited > busiest {
			busiest, busiestRun = ran+waited, ran
		}
	}
	clear(t.order[len(kept):])
	t.order, t.seen = kept, true
	if len(kept) == 0 {
		return
	}
	for i, moved := range [...]int64{run, wait, busiest, busiestRun, busiest - busiestRun} {
		t.total[i] += moved
		row[i] = t.total[i]
	}
}

func (t *threads) forget(one *thread) {
	one.file.close()
	for name, other := range t.known {
		if other == one {
			delete(t.known, name)
		}
	}
}

// forgetAll closes all. Of those that are listed afterwards it is not known since when they ran.
func (t *threads) forgetAll() {
	t.seen = false
	for _, one := range t.order {
		one.file.close()
	}
	clear(t.order)
	clear(t.known)
	t.order = t.order[:0]
}

func (t *threads) close() {
	_ = unix.Close(t.fd)
	t.forgetAll()
}

package filecopy

import (
	"sync/atomic"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
)

// work is what the loops of one end do in a stage; all add to it at the same time. Times
// are in ns.
type work struct {
	file, read, write, sync, hash, network, cut, starved, blocked atomic.Int64

	fileBytes, netBytes, files atomic.Int64
	// done is what the stage moved in bytes of contents, whatever its parts are.
	done atomic.Int64
}

// stopwatch adds the time between its laps to what they were spent on.
type stopwatch struct{ last time.Time }

func startWatch() stopwatch { return stopwatch{sock.Now()} }

// lap adds the time since the last lap.
func (s *stopwatch) lap(to *atomic.Int64) {
	now := sock.Now()
	to.Add(int64(now.Sub(s.last)))
	s.last = now
}

// result is the work as a document has it.
func (w *work) result(streams int, samples []measure.CopySample) *measure.CopyWork {
	return &measure.CopyWork{
		Streams: streams, FileNs: w.file.Load(), ReadNs: w.read.Load(), WriteNs: w.write.Load(), SyncNs: w.sync.Load(),
		HashNs: w.hash.Load(), NetworkNs: w.network.Load(), CutNs: w.cut.Load(), StarvedNs: w.starved.Load(), BlockedNs: w.blocked.Load(), NetworkBytes: w.netBytes.Load(),
		Samples: samples,
	}
}

package filecopy

import (
	"sync"
	"time"

	"soku/internal/measure"
	"soku/internal/panics"
	"soku/internal/sock"
)

const (
	// sampleEvery is the length of a sample, until there are samplesMost: then
	// neighbours are joined, and the length doubles.
	sampleEvery = 100 * time.Millisecond
	samplesMost = 600
)

// sampling turns the running counts of a stage into samples, and into the live intervals
// that a person watches.
type sampling struct {
	work    *work
	device  *device // of the folder that is read or written, or nil
	observe measure.Observer
	live    measure.Progress // what all intervals have: role, direction, stage
	total   int64            // bytes of the stage
	every   time.Duration    // of live intervals; 0: none

	start   time.Time
	samples []measure.CopySample
	joined  int // sample lengths in one sample
	at      counts
	shown   counts
	end     chan struct{}
	finish  func() // closes end, once
	ended   panics.Group
}

// counts are the running counts at a moment, ns after the start.
type counts struct {
	ns                     int64
	file, net, files, done int64
	disk                   measure.DiskCount
	hasDisk                bool
}

// begin samples from now on until stop, or until end, which may be called after stop.
func (s *sampling) begin() (end func()) {
	s.start, s.joined, s.end = sock.Now(), 1, make(chan struct{})
	s.finish = sync.OnceFunc(func() { close(s.end) })
	s.at = s.count()
	s.at.ns = 0
	s.shown = s.at
	s.ended.Go(s.run)
	return s.finish
}

func (s *sampling) run() {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-tick.C:
			if n%s.joined == 0 {
				s.sample()
			}
			s.show(false)
		case <-s.end:
			return
		}
	}
}

// stop ends the sampling and returns the samples and the length of the stage, ns.
func (s *sampling) stop() (samples []measure.CopySample, ns int64) {
	s.finish()
	s.ended.Wait()
	s.sample()
	s.show(true)
	return s.samples, s.at.ns
}

func (s *sampling) count() counts {
	c := counts{
		ns: int64(sock.Since(s.start)), file: s.work.fileBytes.Load(), net: s.work.netBytes.Load(),
		files: s.work.files.Load(), done: s.work.done.Load(),
	}
	c.disk, c.hasDisk = s.device.read()
	return c
}

func (s *sampling) sample() {
	last, now := s.at, s.count()
	now.files = max(now.files, last.files) // a cut takes files back
	s.at = now
	x := measure.CopySample{
		StartNs: last.ns, EndNs: now.ns, FileBytes: now.file - last.file, NetworkBytes: now.net - last.net, Files: now.files - last.files,
	}
	if now.hasDisk && last.hasDisk {
		x.Device = &measure.DiskCount{
			Reads: now.disk.Reads - last.disk.Reads, Writes: now.disk.Writes - last.disk.Writes,
			ReadBytes: now.disk.ReadBytes - last.disk.ReadBytes, WrittenBytes: now.disk.WrittenBytes - last.disk.WrittenBytes,
			BusyNs: now.disk.BusyNs - last.disk.BusyNs,
		}
	}
	if s.samples = append(s.samples, x); len(s.samples) >= samplesMost {
		s.samples = join(s.samples)
		s.joined *= 2
	}
}

// join makes one sample of each two neighbours.
func join(in []measure.CopySample) []measure.CopySample {
	out := in[:0]
	for i := 0; i < len(in); i += 2 {
		x := in[i]
		if i+1 < len(in) {
			y := in[i+1]
			x.EndNs = y.EndNs
			x.FileBytes, x.NetworkBytes, x.Files = x.FileBytes+y.FileBytes, x.NetworkBytes+y.NetworkBytes, x.Files+y.Files
			if x.Device != nil && y.Device != nil {
				a, b := *x.Device, *y.Device
				x.Device = &measure.DiskCount{
					Reads: a.Reads + b.Reads, Writes: a.Writes + b.Writes, ReadBytes: a.ReadBytes + b.ReadBytes,
					WrittenBytes: a.WrittenBytes + b.WrittenBytes, BusyNs: a.BusyNs + b.BusyNs,
				}
			}
		}
		out = append(out, x)
	}
	return out
}

// show passes on a live interval that is due; the last one, however short, as a rest if it
// is shorter than a tenth of one.
func (s *sampling) show(last bool) {
	if s.observe == nil || s.every <= 0 {
		return
	}
	now := s.count()
	now.files, now.done = max(now.files, s.shown.files), max(now.done, s.shown.done) // a cut takes some back
	if !last && now.ns-s.shown.ns < int64(s.every) || now.ns <= s.shown.ns {
		return
	}
	p := s.live
	p.StartNs, p.EndNs, p.Bytes = s.shown.ns, now.ns, now.done-s.shown.done
	p.Bps = float64(p.Bytes) * 8e9 / float64(p.EndNs-p.StartNs)
	p.Rest = last && now.ns-s.shown.ns < int64(s.every)/10
	c := *s.live.Copy
	c.Files, c.DoneRatio = now.files-s.shown.files, 1
	if s.total > 0 {
		c.DoneRatio = min(1, float64(now.done)/float64(s.total))
	}
	p.Copy, s.shown = &c, now
	s.observe(p)
}

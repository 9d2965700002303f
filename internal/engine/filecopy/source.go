package filecopy

import (
	"context"
	"net"

	"soku/internal/engine"
	"soku/internal/measure"
)

// Source is the end of a copy that has the files. It runs the stages of the options over
// the connections, one a stream, and returns what it counted, also beside an error. It
// returns within 100 ms of the end of ctx, or when the call of the file system that runs
// then has returned.
func Source(ctx context.Context, set *Set, conns []*net.TCPConn, o measure.Options, f engine.Flow) (*measure.Copy, error) {
	l := &copying{set: set, o: o, own: OptionsOf(o), observe: f.Observe, out: &measure.Copy{}}
	set.describe(l.out)
	if l.own.reads() {
		p := l.place(set.root, "")
		l.out.Source = &p
	}
	// The options say which checksum both ends expect.
	if l.own.verifies() {
		l.out.Checksum = l.own.Checksum
	}
	links, cuts, stop, err := openLinks(ctx, conns, o, f, measure.Sender)
	if err != nil {
		return l.out, err
	}
	defer func() { stop(); l.out.Cuts = cuts.all() }()
	sent := 0 // stages
	for _, name := range stages(o) {
		if name == measure.StageRead {
			err = l.local(ctx, name)
		} else {
			cuts.begin(name)
			err = l.send(ctx, name, sent, links)
			sent++
		}
		if err != nil {
			return l.out, err
		}
	}
	return l.out, links[0].finish(sent)
}

// send runs a stage of the source, after so many others.
func (l *copying) send(ctx context.Context, name string, before int, links links) (err error) {
	w, disk := &work{}, name == measure.StageAll
	r := &reading{set: l.set, disk: disk, direct: l.own.Direct, hash: off, work: w}
	if disk {
		if l.out.Source.CachedRatio, err = coldOr(ctx, l.set, l.own.Cache); err != nil {
			return err
		}
		r.hash = hasher(l.own.Checksum)
	}
	links.count(w)
	root := l.set.root
	if !disk {
		root = nil
	}
	s := l.sampling(name, w, root, measure.Sender, l.set.bytes)
	defer s.device.close()
	defer s.begin()()
	whole, written := context.WithCancel(ctx)
	defer written()
	begin := frame{frameStage, stageNumbers[name], entry{uint32(l.set.dirs), uint32(len(l.set.entries)), l.set.bytes}}
	err = streams(ctx, len(links), links.interrupt, func(ctx context.Context, i int) error {
		if i == 0 {
			defer written()
		}
		o := &outgoing{k: links[i], r: r, begin: begin, before: before, streams: len(links)}
		return o.run(ctx, whole)
	})
	samples, ns := s.stop()
	l.out.Stages = append(l.out.Stages, measure.CopyStage{
		Stage: name, DurationNs: ns, Files: w.files.Load(), Bytes: w.done.Load(), Source: w.result(len(links), samples),
	})
	return err
}

// outgoing is what a source sends in a stage over the connections of one index.
type outgoing struct {
	k       *link
	r       *reading
	begin   frame
	before  int // stages that were sent
	streams int // of the stage

	list  []uint32 // numbers of its files, in the order in which they are sent
	at    int      // how many of them are read
	files int      // how many of them are sent
	bytes int64    // contents that are sent
	ended bool     // the end of the stage is sent
}

// run sends the files, and goes on after cuts until the other end has them all. whole ends when
// the other end has everything of the stage.
func (o *outgoing) run(ctx, whole context.Context) error {
	for {
		err := o.attempt(ctx, whole)
		if err == nil {
			return nil
		}
		if err = o.k.reconnect(whole, err); err != nil {
			if whole.Err() != nil && ctx.Err() == nil {
				return nil
			}
			return err
		}
	}
}

// attempt sends over one connection what the other end does not have.
func (o *outgoing) attempt(ctx, whole context.Context) error {
	if r, replaced := o.k.bind(); replaced {
		if complete, err := o.resume(r); complete || err != nil {
			return err
		}
	}
	if !o.ended {
		if err := o.send(ctx); err != nil {
			return err
		}
	}
	switch {
	case o.k.index == 0:
		return o.k.answered() // everything is written and flushed at the other end
	case o.k.by == nil:
		return nil
	}
	return o.k.watchUntil(whole)
}

// resume goes back to the first file that the other end does not have whole. It reports whether
// the other end has completed the stage.
func (o *outgoing) resume(r replacement) (complete bool, err error) {
	has, items := o.files, r.far.Items
	if o.ended {
		has++
	}
	switch {
	case r.far.Stages > o.before:
		complete, items = true, has
	case r.far.Stages < o.before: // it was at the end of the stage before
		items = 0
	}
	if items < 0 || items > has {
		return false, o.k.unexpected()
	}
	o.ended = o.ended && items == has
	files, bytes := min(items, o.files), int64(0)
	if o.contents() {
		for _, i := range o.list[:files] {
			bytes += o.r.set.entries[i].size
		}
		o.r.work.files.Add(int64(files - o.files))
		o.r.work.done.Add(bytes - o.bytes)
	}
	o.r.work.blocked.Add(int64(r.waited)) // the loop that reads would have waited, too
	o.k.cuts.add(o.k.index, r.lost, o.bytes-bytes)
	o.at, o.files, o.bytes = files, files, bytes
	return complete, nil
}

// contents reports whether files are followed by their bytes.
func (o *outgoing) contents() bool { return o.begin.stage != stageNumbers[measure.StageWrite] }

// send sends the stage, from the file on at which it is.
func (o *outgoing) send(ctx context.Context) error {
	err := o.k.send(o.begin)
	switch {
	case err != nil:
	case o.contents():
		fill := func(b *blocks) error { return o.r.fill(b, o.next) }
		err = pump(ctx, blockSize(o.streams), deep(o.streams), o.r.work, o.k.interrupt, fill, o.block)
	default:
		err = o.announce()
	}
	if err == nil {
		err = o.k.send(frame{kind: frameEnd})
	}
	if err != nil {
		return err
	}
	o.ended = true
	return o.k.flush()
}

// next returns the next file of the stream: one that is sent again, or one that no stream has
// yet. more is false if there is none.
func (o *outgoing) next() (i int, more bool) {
	if o.at == len(o.list) {
		if i, more = o.r.take(); !more {
			return 0, false
		}
		o.list = append(o.list, uint32(i))
	}
	o.at++
	return int(o.list[o.at-1]), true
}

// announce sends the files without their bytes, which the other end makes.
func (o *outgoing) announce() error {
	for i, more := o.next(); more; i, more = o.next() {
		if err := o.k.send(frame{frameFile, o.begin.stage, o.r.set.entries[i]}); err != nil {
			return err
		}
		o.files++
	}
	return nil
}

// block sends a block. The frame of its file precedes the first one.
func (o *outgoing) block(x *block, more bool) error {
	if x.first {
		if err := o.k.send(frame{frameFile, o.begin.stage, x.file}); err != nil {
			return err
		}
	}
	if _, err := o.k.out.Write(x.data); err != nil {
		return o.k.failed("copy.send", err)
	}
	o.bytes += int64(len(x.data))
	o.r.work.done.Add(int64(len(x.data)))
	if x.last {
		if _, err := o.k.out.Write(x.sum); err != nil {
			return o.k.failed("copy.send", err)
		}
		o.files++
		o.r.work.files.Add(1)
	}
	if more {
		return nil
	}
	return o.k.flush()
}

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
	for _, name := range stages(o) {
		if name == measure.StageRead {
			err = l.local(ctx, name)
		} else {
			cuts.begin(name)
			err = l.send(ctx, name, links)
		}
		if err != nil {
			return l.out, err
		}
	}
	if err := links[0].send(frame{kind: frameOver}); err != nil {
		return l.out, err
	}
	if err := links[0].flush(); err != nil {
		return l.out, err
	}
	return l.out, links[0].lastAnswered()
}

// send runs a stage of the source.
func (l *copying) send(ctx context.Context, name string, links links) (err error) {
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
	err = streams(ctx, len(links), links.interrupt, func(ctx context.Context, i int) error {
		if err := l.stream(ctx, name, links[i], r); err != nil {
			return err
		}
		if i > 0 {
			return links[i].linger(whole)
		}
		defer written()
		return links[0].answered() // everything is written and flushed at the other end
	})
	samples, ns := s.stop()
	l.out.Stages = append(l.out.Stages, measure.CopyStage{
		Stage: name, DurationNs: ns, Files: w.files.Load(), Bytes: w.done.Load(), Source: w.result(len(links), samples),
	})
	return err
}

// stream is a stage on one connection.
func (l *copying) stream(ctx context.Context, name string, k *link, r *reading) error {
	n := stageNumbers[name]
	begin := frame{frameStage, n, entry{uint32(l.set.dirs), uint32(len(l.set.entries)), l.set.bytes}}
	record := &sentStage{set: l.set, stage: n, disk: r.disk, contents: name != measure.StageWrite, begin: begin, sumSize: r.hash.size()}
	defer record.close()
	k.record(record)
	if err := k.send(begin); err != nil {
		return err
	}
	var err error
	if name == measure.StageWrite {
		err = l.announce(record, k, r)
	} else {
		err = pump(ctx, blockSize(l.o.Streams), deep(l.o.Streams), r.work, k.interrupt, r.fill, func(x *block, more bool) error { return sendBlock(record, k, x, more, r.work) })
	}
	if err != nil {
		return err
	}
	if err := k.send(frame{kind: frameEnd}); err != nil {
		return err
	}
	return k.flush()
}

// announce sends the files of a stream without their bytes, which the other end makes.
func (l *copying) announce(to *sentStage, k *link, r *reading) error {
	for {
		i := int(r.next.Add(1)) - 1
		if i >= len(l.set.entries) {
			return nil
		}
		e := l.set.entries[i]
		to.files = append(to.files, e.file)
		if err := k.send(frame{frameFile, to.stage, e}); err != nil {
			return err
		}
	}
}

// sendBlock sends a block, behind the frame of its file if it is the first one.
func sendBlock(to *sentStage, k *link, x *block, more bool, w *work) error {
	if x.first {
		to.files = append(to.files, x.file.file)
		if err := k.send(frame{frameFile, to.stage, x.file}); err != nil {
			return err
		}
	}
	if _, err := k.out.Write(x.data); err != nil {
		return k.failed("copy.send", err)
	}
	w.done.Add(int64(len(x.data)))
	if x.last {
		to.sums = append(to.sums, x.sum...)
		if _, err := k.out.Write(x.sum); err != nil {
			return k.failed("copy.send", err)
		}
		if to.stage != stageNumbers[measure.StageAll] { // reading counts them otherwise
			w.files.Add(1)
		}
	}
	if more {
		return nil
	}
	return k.flush()
}

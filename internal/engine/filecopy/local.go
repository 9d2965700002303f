package filecopy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"soku/internal/measure"
	"soku/internal/panics"
	"soku/internal/sock/pace"
)

// Local copies a set to a folder of this host, or only reads it, by the stages of the
// options. It also returns what it counted with an error. All bytes go through this
// program: neither a clone of blocks (reflink) nor a copy by a file server counts as one.
func Local(ctx context.Context, set *Set, o measure.Options, observe measure.Observer) (*measure.Copy, error) {
	l := &copying{set: set, o: o, own: OptionsOf(o), observe: observe, out: &measure.Copy{}}
	set.describe(l.out)
	if l.own.reads() {
		source := l.place(set.root, "")
		l.out.Source = &source
	}
	if l.own.To != "" && l.own.writes() {
		p, err := openPrivate(l.own.To)
		if err != nil {
			return l.out, err
		}
		defer p.Close()
		l.private = p
		sink := l.place(p.root, l.own.Sync)
		l.out.Sink = &sink
		if err := room(spaceOf(p.root), set.needed(), l.own.To); err != nil {
			return l.out, err
		}
		if l.own.verifies() {
			l.out.Checksum = "compare"
		}
	}
	for _, name := range stages(o) {
		if err := l.local(ctx, name); err != nil {
			return l.out, err
		}
	}
	return l.out, nil
}

// copying is a copy at one end.
type copying struct {
	set     *Set     // at the source
	private *private // at the sink
	o       measure.Options
	own     Options
	observe measure.Observer
	limit   *pace.Budget // of what a sink receives and makes; nil: no limit
	out     *measure.Copy
	folder  *Root // of private
}

// place describes a folder of the copy. Direct is what was asked for: where the system does
// not confirm it, opening a file fails.
func (l *copying) place(root *os.Root, sync string) measure.CopyPlace {
	p := describePlace(root)
	p.Direct, p.Sync = l.own.Direct, sync
	if sync == "end" && !canSyncAll {
		p.Sync = "file"
	}
	return p
}

// sampling is that of a stage at this end, whose files are in the folder root.
func (l *copying) sampling(stage string, w *work, root *os.Root, role measure.Role, total int64) *sampling {
	s := &sampling{work: w, observe: l.observe, total: total, every: l.o.Interval.Std()}
	if root != nil {
		s.device = deviceOf(root)
	}
	s.live = measure.Progress{Role: role, Copy: &measure.CopyProgress{Stage: stage}}
	return s
}

// streams runs one for each stream and returns the first error. interrupt ends what the
// others wait for then, and may be nil.
func streams(ctx context.Context, n int, interrupt func(), run func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if err := panics.Run(func() error { return run(ctx, i) }); err != nil {
				cancel(err)
				if interrupt != nil {
					interrupt()
				}
			}
		})
	}
	all.Wait()
	err := context.Cause(ctx)
	panics.Raise(err)
	return err
}

// local runs a stage of a local copy.
func (l *copying) local(ctx context.Context, name string) (err error) {
	w, set := &work{}, l.set
	if name == measure.StageWrite {
		set = &Set{entries: l.set.entries, dirs: l.set.dirs, bytes: l.set.bytes}
	} else if l.out.Source.CachedRatio, err = coldOr(ctx, l.set, l.own.Cache); err != nil {
		return err
	}
	r := &reading{set: set, disk: name != measure.StageWrite, direct: l.own.Direct, hash: off, work: w}
	use, root := discard(w), l.set.root
	var dst *writing
	// The counts of files are those of the end that ends the stage.
	source, sink := w, w
	if name != measure.StageRead {
		source, sink = &work{}, w
		r.work = source
		if dst, err = newWriting(l.private, name, l.own.Sync, l.own.Direct, sink); err != nil {
			return err
		}
		if name == measure.StageAll {
			dst.early = flushEveryLocal
		}
		defer dst.remove(l.private, name)
		root = dst.root
	}
	s := l.sampling(name, sink, root, "", set.bytes)
	defer s.device.close()
	var sources *sampling
	if r.disk && dst != nil {
		sources = &sampling{work: source, device: deviceOf(l.set.root)}
		defer sources.device.close()
		defer sources.begin()()
	}
	defer s.begin()()
	err = streams(ctx, l.o.Streams, nil, func(ctx context.Context, _ int) error {
		if dst == nil {
			return pump(ctx, blockSize(l.o.Streams), depth, w, nil, r.fillTaken, use)
		}
		x := &stream{d: dst}
		defer x.close()
		return pump(ctx, blockSize(l.o.Streams), depth, sink, nil, r.fillTaken, func(b *block, _ bool) error {
			if b.last {
				source.files.Add(1)
			}
			return x.write(b)
		})
	})
	if err == nil && dst != nil {
		err = dst.flush()
	}
	samples, ns := s.stop()
	stage := measure.CopyStage{Stage: name, DurationNs: ns, Files: w.files.Load(), Bytes: w.done.Load()}
	if dst != nil {
		stage.Sink = sink.result(l.o.Streams, samples)
	} else {
		stage.Source = w.result(l.o.Streams, samples)
	}
	if sources != nil {
		samples, _ := sources.stop()
		stage.Source = source.result(l.o.Streams, samples)
	}
	l.out.Stages = append(l.out.Stages, stage)
	if err == nil && name == measure.StageAll && l.own.verifies() {
		err = l.compare(ctx, dst)
	}
	return err
}

// discard uses blocks that are only read or received.
func discard(w *work) func(*block, bool) error {
	return func(x *block, _ bool) error {
		if x.cut {
			w.done.Add(-x.before)
			return nil
		}
		w.done.Add(int64(len(x.data)))
		if x.last {
			w.files.Add(1)
		}
		return nil
	}
}

// compare reads source and copy of every file and compares them, after the pages of the
// copy were dropped from the cache, where they can be.
func (l *copying) compare(ctx context.Context, dst *writing) error {
	var next, verified atomic.Int64
	err := streams(ctx, l.o.Streams, nil, func(ctx context.Context, _ int) error {
		a, b := make([]byte, blockLeast), make([]byte, blockLeast)
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= len(l.set.entries) {
				return nil
			}
			if err := l.same(ctx, dst, i, a, b); err != nil {
				return err
			}
			verified.Add(1)
		}
		return context.Cause(ctx)
	})
	l.out.Verified = verified.Load()
	return err
}

func (l *copying) same(ctx context.Context, dst *writing, i int, a, b []byte) error {
	e := l.set.entries[i]
	from, err := l.set.open(i)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := dst.root.OpenFile(nameOf(e), os.O_RDONLY|openSafely, 0)
	if err != nil {
		return failFile("copy.verify", nameOf(e), err)
	}
	defer to.Close()
	_ = dropPages(to)
	for left := e.size; ; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n := int(min(left, int64(len(a))))
		if _, err := io.ReadFull(from, a[:n]); err != nil {
			return failFile("copy.read", l.set.names[i], err)
		}
		m, err := io.ReadFull(to, b[:min(n+1, len(b))]) // one byte more than there may be
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return failFile("copy.verify", nameOf(e), err)
		}
		if m != n || !bytes.Equal(a[:n], b[:m]) {
			return measure.Fail(measure.KindBroken, "copy.differs", measure.Figures{"file": l.set.names[i]})
		}
		if left -= int64(n); left == 0 {
			return nil
		}
	}
}

package filecopy

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock/pace"
)

// Sink is the end of a copy that writes the files, into a private folder in folder, and
// removes them at the end. A nil folder takes no files: only the network is measured then.
// Names, numbers and sizes from the other end decide nothing but how much is written, which
// is what it announced for the stage: the files of the options, or, if the options name a
// folder of the other end, what is free at most. It returns what it counted, also with an error,
// as [Source] does.
func Sink(ctx context.Context, folder *Root, conns []*net.TCPConn, o measure.Options, f engine.Flow) (*measure.Copy, error) {
	l := &copying{o: o, own: OptionsOf(o), observe: f.Observe, limit: f.Limit.In, out: &measure.Copy{}, folder: folder}
	if folder != nil && l.own.writes() {
		p, err := newPrivate(folder.Root, folder.shown)
		if err != nil {
			return l.out, err
		}
		defer p.Close()
		l.private = p
		place := l.place(p.root, l.own.Sync)
		l.out.Sink = &place
	}
	links, _, stop, err := openLinks(ctx, conns, o, f, measure.Receiver)
	if err != nil {
		return l.out, err
	}
	defer stop()
	left := slices.DeleteFunc(stages(o), func(name string) bool { return name == measure.StageRead }) // no frames
	for {
		w := &work{} // of the stage that comes next, some of whose bytes may be read with its first frame
		links.count(w)
		begin, err := links[0].firstFrame()
		switch {
		case err != nil:
			return l.out, err
		case begin.kind == frameOver && len(left) == 0:
			if l.private != nil {
				l.private.Close() // before the answer: it may take longer than a server waits for what comes after it
			}
			links.complete()
			return l.out, links[0].lastAnswer()
		case begin.kind != frameStage || len(left) == 0 || begin.stage != stageNumbers[left[0]]:
			return l.out, links[0].unexpected()
		case l.own.Folder == "" && (int(begin.file) != l.own.Files || begin.size != l.own.bytes()):
			return l.out, links[0].otherFiles(begin, l.own)
		}
		left = left[1:]
		if err := l.take(ctx, begin, links, w); err != nil {
			return l.out, err
		}
	}
}

// otherFiles is the failure of a peer that announces other files than the options have.
func (l *link) otherFiles(begin frame, own Options) error {
	return measure.Fail(measure.KindBroken, "copy.other_files", measure.Figures{
		"peer": l.peer(), "files": int64(begin.file), "bytes": begin.size, "asked_files": own.Files, "asked_bytes": own.bytes(),
	})
}

// firstFrame reads the first frame of a stage, or the end of the copy.
func (l *link) firstFrame() (f frame, err error) {
	for {
		l.bind()
		if f, err = l.receive(); err == nil {
			return f, nil
		}
		if err = l.reconnect(l.life, err); err != nil {
			return f, err
		}
	}
}

// taking is a stage of the sink.
type taking struct {
	stage    string
	number   byte
	announce frame
	dst      *writing     // nil where nothing is written
	hash     hasher       // of what crosses the network; off: none
	bytes    bool         // files are followed by their bytes
	limit    *pace.Budget // of contents that this end makes; nil: no limit
	work     *work
	// What was announced and has not come yet.
	filesLeft, bytesLeft atomic.Int64
	verified             atomic.Int64
}

// take runs a stage of the sink, which begins with a frame of the first connection.
func (l *copying) take(ctx context.Context, begin frame, links links, w *work) (err error) {
	name, _ := stageOf(begin.stage)
	t := &taking{stage: name, number: begin.stage, announce: begin, hash: off, bytes: name != measure.StageWrite, limit: l.limit, work: w}
	t.filesLeft.Store(int64(begin.file))
	t.bytesLeft.Store(begin.size)
	var root *os.Root
	if name != measure.StageNetwork {
		if l.private == nil {
			return measure.Fail(measure.KindRefused, "copy.no_root", nil)
		}
		free, err := l.folder.reserve(needed(begin.size, int64(begin.file), int64(begin.dir)), w)
		if err != nil {
			return err
		}
		defer free()
		if t.dst, err = newWriting(l.private, name, l.own.Sync, l.own.Direct, t.work); err != nil {
			return err
		}
		if name == measure.StageAll {
			t.dst.early = flushEvery
		}
		defer t.dst.remove(l.private, name)
		root = t.dst.root
	}
	if name == measure.StageAll && l.own.verifies() {
		t.hash, l.out.Checksum = hasher(l.own.Checksum), l.own.Checksum
	}
	w.network.Store(0) // the wait for the stage is none of it
	w.cut.Store(0)
	s := l.sampling(name, t.work, root, measure.Receiver, begin.size)
	defer s.device.close()
	defer s.begin()()
	err = streams(ctx, len(links), links.interrupt, func(ctx context.Context, i int) error {
		return t.stream(ctx, links[i], len(links))
	})
	if err == nil && (t.filesLeft.Load() != 0 || t.bytesLeft.Load() != 0) {
		err = links[0].unexpected()
	}
	if err == nil && t.dst != nil {
		err = t.dst.flush()
	}
	samples, ns := s.stop()
	l.out.Verified += t.verified.Load()
	l.out.Stages = append(l.out.Stages, measure.CopyStage{
		Stage: name, DurationNs: ns, Files: t.work.files.Load(), Bytes: t.work.done.Load(), Sink: t.work.result(len(links), samples),
	})
	if err == nil {
		links.complete()
		err = links[0].answer()
	}
	return err
}

// stream is a stage on one connection.
func (t *taking) stream(ctx context.Context, k *link, n int) error {
	use := discard(t.work)
	if t.dst != nil {
		s := &stream{d: t.dst}
		defer s.close()
		use = func(x *block, _ bool) error { return s.write(x) }
	}
	return pump(ctx, blockSize(n), deep(n), t.work, k.interrupt, func(b *blocks) error { return t.fill(k, b) }, use)
}

// fill is the loop that receives the files of a connection, and of those that replace it, until
// the end of the stage.
func (t *taking) fill(k *link, b *blocks) error {
	begun := k.index == 0 // its first frame is read
	for {
		if _, replaced := k.bind(); replaced {
			begun = false
		}
		err := t.files(k, b, begun)
		if err == nil {
			return nil
		}
		if err = k.reconnect(b.ctx, err); err != nil {
			return err
		}
	}
}

// files receives files from one connection. The frame of the stage comes first, unless the stage
// has begun.
func (t *taking) files(k *link, b *blocks, begun bool) error {
	if !begun {
		if f, err := k.receive(); err != nil {
			return err
		} else if f != t.announce {
			return k.unexpected()
		}
	}
	hash, digest := t.hash.make(), make([]byte, t.hash.size())
	for b.ctx.Err() == nil {
		f, err := k.receive()
		switch {
		case err != nil:
			return err
		case f.kind == frameEnd:
			return k.advance()
		case f.kind != frameFile || f.stage != t.number || f.dir >= t.announce.dir || f.file >= t.announce.file,
			t.filesLeft.Add(-1) < 0, t.bytesLeft.Add(-f.size) < 0:
			return k.unexpected()
		}
		if t.bytes {
			err = t.file(k, b, f.entry, hash, digest)
		} else if err = k.advance(); err == nil {
			fromMemory(b, f.entry, t.limit)
		}
		if isCut(err) { // the file comes again
			t.filesLeft.Add(1)
			t.bytesLeft.Add(f.size)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// file receives a file.
func (t *taking) file(k *link, b *blocks, e entry, hash *sum, digest []byte) error {
	hash.reset()
	for at, first := int64(0), true; first || at < e.size; first = false {
		x := b.get()
		if x == nil {
			return nil
		}
		n := min(e.size-at, int64(len(x.buf)))
		x.file, x.first, x.last, x.data, x.sum, x.cut, x.before = e, first, at+n == e.size, x.buf[:n], nil, false, at
		err := t.data(k, x, hash, digest)
		if isCut(err) {
			x.data, x.cut = nil, true
		}
		if err == nil || x.cut {
			b.put(x)
		}
		if err != nil {
			return err
		}
		at += n
	}
	return nil
}

// data receives the bytes of a block, and verifies the checksum that follows the last one of a
// file.
func (t *taking) data(k *link, x *block, hash *sum, digest []byte) error {
	if _, err := io.ReadFull(k.in, x.data); err != nil {
		return k.failed("copy.receive", err)
	}
	if hash.counts() {
		watch := startWatch()
		hash.write(x.data)
		if !x.last {
			watch.lap(&t.work.hash)
			return nil
		}
		sum := hash.sum()
		watch.lap(&t.work.hash)
		if _, err := io.ReadFull(k.in, digest); err != nil {
			return k.failed("copy.receive", err)
		}
		if !bytes.Equal(sum, digest) {
			return measure.Fail(measure.KindBroken, "copy.checksum", measure.Figures{"file": int64(x.file.file), "files": int64(t.announce.file)})
		}
	}
	if !x.last {
		return nil
	}
	err := k.advance()
	if err == nil && hash.counts() {
		t.verified.Add(1)
	}
	return err
}

// lastAnswer answers the end of the copy. A server keeps the connection until the client has
// finished: a cut may have lost the answer.
func (l *link) lastAnswer() error {
	if err := l.answer(); err != nil || l.by == nil || l.by.Finished == nil {
		return err
	}
	given := time.NewTimer(silence + engine.ReconnectLimit)
	defer given.Stop()
	select {
	case <-l.by.Finished:
	case <-given.C:
	case <-l.life.Done():
		return l.cause(nil)
	}
	return nil
}

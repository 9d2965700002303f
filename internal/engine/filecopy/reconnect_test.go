package filecopy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/test/loopback"
)

// reset ends a connection as a firewall does.
func reset(c *net.TCPConn) {
	_ = c.SetLinger(0)
	_ = c.Close()
}

// relayed connects the two ends of a copy through relays that cut connections, and connects them
// again without a protocol: it passes what the client opens to the server.
type relayed struct {
	t       *testing.T
	reverse bool          // the server is the source
	cut     map[int][]int // the connections of an index, in the order of their opening, are cut after so many bytes from the source; later ones are not
	answers map[int]int   // how many connections of an index are cut when the sink answers

	mu       sync.Mutex
	take     engine.Take
	opened   map[int]int
	ended    sync.WaitGroup
	finished chan struct{}
}

// pair opens a connection of that index and returns its two ends.
func (p *relayed) pair(index int) (source, sink *net.TCPConn) {
	const never = 1 << 40
	a, b := loopback.TCP(p.t, 1)
	c, d := loopback.TCP(p.t, 1)
	after, answer := never, p.answers[index] > 0
	if all := p.cut[index]; len(all) > 0 {
		after, p.cut[index] = all[0], all[1:]
	}
	if answer {
		p.answers[index]--
	}
	cut := func() { reset(b[0]); reset(c[0]) }
	p.ended.Go(func() {
		if n, err := io.CopyN(c[0], b[0], int64(after)); n == int64(after) {
			cut()
		} else if err != nil {
			_ = c[0].CloseWrite()
		}
	})
	p.ended.Go(func() {
		if answer {
			if _, err := c[0].Read(make([]byte, 1)); err == nil {
				cut()
			}
		}
		_, _ = io.Copy(b[0], c[0])
		_ = b[0].CloseWrite()
	})
	return a[0], d[0]
}

// conns opens the first connections.
func (p *relayed) conns(n int) (source, sink []*net.TCPConn) {
	p.opened, p.finished = map[int]int{}, make(chan struct{})
	for i := range n {
		a, b := p.pair(i)
		source, sink = append(source, a), append(sink, b)
	}
	return source, sink
}

func (p *relayed) client() *engine.Reconnect { return &engine.Reconnect{Open: p.open} }

func (p *relayed) server() *engine.Reconnect {
	set := func(take engine.Take) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.take = take
	}
	return &engine.Reconnect{Finished: p.finished, Take: func(take engine.Take) func() {
		set(take)
		return func() { set(nil) }
	}}
}

var errOver = errors.New("over")

// open implements the Open of [engine.Reconnect].
func (p *relayed) open(_ context.Context, index int, own engine.Progress) (c *net.TCPConn, far engine.Progress, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.take == nil {
		return nil, far, errOver
	}
	p.opened[index]++
	client, server := p.pair(index)
	if p.reverse {
		client, server = server, client
	}
	err = p.take(index, server, own, func(own engine.Progress) error { far = own; return nil })
	return client, far, err
}

// received is what a sink of a test has.
type received struct {
	work     *work
	verified int64
	files    map[string][]byte
}

// receive is [Sink] for a copy of one stage, which reads what was written before it is removed.
func receive(ctx context.Context, folder string, conns []*net.TCPConn, o measure.Options, by *engine.Reconnect) (got received, err error) {
	root, err := OpenRoot(folder)
	if err != nil {
		return got, err
	}
	defer root.Close()
	p, err := newPrivate(root.Root, "")
	if err != nil {
		return got, err
	}
	defer p.Close()
	links, _, stop, err := openLinks(ctx, conns, o, engine.Flow{Reconnect: by}, measure.Receiver)
	if err != nil {
		return got, err
	}
	defer stop()
	got.work = &work{}
	links.count(got.work)
	begin, err := links[0].firstFrame()
	if err != nil {
		return got, err
	}
	name, _ := stageOf(begin.stage)
	t := &taking{stage: name, number: begin.stage, announce: begin, hash: off, bytes: name != measure.StageWrite, work: got.work}
	t.filesLeft.Store(int64(begin.file))
	t.bytesLeft.Store(begin.size)
	if name == measure.StageAll {
		t.hash = hasher(OptionsOf(o).Checksum)
	}
	if name != measure.StageNetwork {
		if t.dst, err = newWriting(p, name, "end", false, t.work); err != nil {
			return got, err
		}
		t.dst.early = 1 << 20
		defer t.dst.remove(p, name)
	}
	err = streams(ctx, len(links), links.interrupt, func(ctx context.Context, i int) error { return t.stream(ctx, links[i], len(links)) })
	if err != nil || t.filesLeft.Load() != 0 || t.bytesLeft.Load() != 0 {
		return got, fmt.Errorf("%w; %d files and %d bytes are left", err, t.filesLeft.Load(), t.bytesLeft.Load())
	}
	got.verified, got.files = t.verified.Load(), map[string][]byte{}
	found, _ := filepath.Glob(filepath.Join(folder, p.name, name, "*", "*"))
	for _, f := range found {
		dir, number := filepath.Split(f)
		if got.files[filepath.Base(dir)+"/"+number], err = os.ReadFile(f); err != nil {
			return got, err
		}
	}
	links.complete()
	if err = links[0].answer(); err != nil {
		return got, err
	}
	if f, err := links[0].firstFrame(); err != nil || f.kind != frameOver {
		return got, fmt.Errorf("%+v, %w", f, err)
	}
	links.complete()
	return got, links[0].lastAnswer()
}

// copyOver copies a set over a path and checks that each file arrived as it was read, once, and
// that both ends counted it once. It returns what the source counted.
func copyOver(t *testing.T, p *relayed, o measure.Options) *measure.Copy {
	t.Helper()
	folder := t.TempDir()
	set, err := Prepare(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	limit := time.AfterFunc(30*time.Second, func() { cancel(errors.New("the copy hangs")) })
	defer limit.Stop()
	source, sink := p.conns(o.Streams)
	ofSource, ofSink := p.client(), p.server()
	if p.reverse {
		ofSource, ofSink = ofSink, ofSource
	}
	var got received
	var sinkErr error
	var both sync.WaitGroup
	both.Go(func() {
		if got, sinkErr = receive(ctx, folder, sink, o, ofSink); sinkErr != nil {
			cancel(sinkErr)
		}
		if p.reverse {
			close(p.finished)
		}
	})
	c, err := Source(ctx, set, source, o, engine.Flow{Reconnect: ofSource})
	if err != nil {
		cancel(err)
	}
	if !p.reverse {
		close(p.finished)
	}
	both.Wait()
	for _, c := range append(source, sink...) {
		_ = c.Close()
	}
	if err != nil || sinkErr != nil {
		t.Fatalf("source: %v; sink: %v", err, sinkErr)
	}
	n, stage := int64(len(set.entries)), OptionsOf(o).Stage
	if got.work.files.Load() != n || got.work.done.Load() != set.bytes {
		t.Errorf("the sink counts %d files and %d bytes, want %d and %d", got.work.files.Load(), got.work.done.Load(), n, set.bytes)
	}
	if s := c.Stages[0]; stage != measure.StageWrite && (s.Files != n || s.Bytes != set.bytes) {
		t.Errorf("the source counts %d files and %d bytes, want %d and %d", s.Files, s.Bytes, n, set.bytes)
	}
	if stage == measure.StageAll && OptionsOf(o).Checksum != off && got.verified != n {
		t.Errorf("%d files are verified, want %d", got.verified, n)
	}
	if stage == measure.StageNetwork {
		return c
	}
	if int64(len(got.files)) != n {
		t.Errorf("%d files are written, want %d", len(got.files), n)
	}
	for i, e := range set.entries {
		if stage == measure.StageWrite {
			if int64(len(got.files[nameOf(e)])) != e.size {
				t.Errorf("file %d has %d bytes, want %d", i, len(got.files[nameOf(e)]), e.size)
			}
			continue
		}
		want, err := set.root.ReadFile(set.names[i])
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.files[nameOf(e)], want) {
			t.Errorf("file %d differs from its source", i)
		}
	}
	empty(t, folder)
	return c
}

// copyOf are options of a copy of generated files.
func copyOf(t *testing.T, stage, checksum string, streams, files int, size measure.Size) measure.Options {
	t.Helper()
	return options(t, func(o *measure.Options, own *Options) {
		own.Disk, own.Stage, own.Checksum, own.Files, own.FileSize, o.Streams = t.TempDir(), stage, checksum, files, size, streams
	})
}

// Every byte at which something begins or ends on a connection, and bytes between.
func TestACopyGoesOnWithTheFileThatWasCut(t *testing.T) {
	const size, sum = 100_000, 32
	frames := func(stage string) int {
		return map[string]int{measure.StageNetwork: frameSize + size, measure.StageWrite: frameSize, measure.StageAll: frameSize + size + sum}[stage]
	}
	for _, stage := range []string{measure.StageNetwork, measure.StageWrite, measure.StageAll} {
		for _, reverse := range []bool{false, true} {
			file := frames(stage)
			end := frameSize + 3*file
			for name, after := range map[string]int{
				"nothing sent": 0, "in the frame of the stage": 12, "after the frame of the stage": frameSize,
				"in the frame of a file": frameSize + 1, "after the frame of a file": frameSize + frameSize,
				"in the middle of a file": frameSize + file/2, "before the checksum": frameSize + file - sum,
				"in the checksum": frameSize + file - 1, "after a file": frameSize + file, "in the second file": frameSize + file + file/3,
				"before the end": end, "in the end": end + 5, "after the end": end + frameSize, "in the end of the copy": end + frameSize + 7,
				"after the end of the copy": end + 2*frameSize,
			} {
				t.Run(fmt.Sprintf("%s, reverse %v, %s", stage, reverse, name), func(t *testing.T) {
					t.Parallel()
					p := &relayed{t: t, reverse: reverse, cut: map[int][]int{0: {after}}}
					c := copyOver(t, p, copyOf(t, stage, "sha256", 1, 3, size))
					if p.opened[0] != 1 && after < end+frameSize || len(c.Cuts) > 1 {
						t.Errorf("%d connections were opened again, cuts %+v", p.opened[0], c.Cuts)
					}
					if name == "in the middle of a file" && stage == measure.StageAll && (len(c.Cuts) != 1 || c.Cuts[0].ResentBytes <= 0 || c.Cuts[0].ResentBytes > 3*size) {
						t.Errorf("cuts %+v", c.Cuts)
					}
				})
			}
		}
	}
}

func TestACopyWhoseAnswerIsLostGoesOn(t *testing.T) {
	for _, reverse := range []bool{false, true} {
		for lost := 1; lost <= 2; lost++ { // of the stage; of the stage and of the copy
			p := &relayed{t: t, reverse: reverse, answers: map[int]int{0: lost}}
			copyOver(t, p, copyOf(t, measure.StageAll, "crc32c", 2, 5, 1000))
		}
	}
}

// Connections are cut again and again, also when they were just opened.
func TestACopyOfManyFilesOrALargeOneOutlivesManyCuts(t *testing.T) {
	for _, reverse := range []bool{false, true} {
		for _, streams := range []int{1, 3} {
			for _, c := range []struct {
				files int
				size  measure.Size
				cut   []int
			}{
				{400, 3000, []int{50_000, 100, 0, 24, 300_001, 9_999}},
				{1, 24 << 20, []int{1 << 20, 5 << 20, 20 << 20, 3}},
				{8, 1 << 20, []int{2<<20 + 77, 1 << 19, 1<<20 + 80}},
			} {
				t.Run(fmt.Sprintf("reverse %v, %d streams, %d files", reverse, streams, c.files), func(t *testing.T) {
					t.Parallel()
					p := &relayed{t: t, reverse: reverse, cut: map[int][]int{}}
					for i := range streams {
						p.cut[i] = append([]int{10 * i}, c.cut...)
					}
					got := copyOver(t, p, copyOf(t, measure.StageAll, off, streams, c.files, c.size))
					if len(got.Cuts) < len(c.cut) {
						t.Errorf("cuts %+v", got.Cuts)
					}
					for _, cut := range got.Cuts {
						if cut.Stage != measure.StageAll || cut.Stream >= streams || cut.ResentBytes < 0 || cut.StartNs < 0 || cut.DurationNs < 0 {
							t.Errorf("cut %+v", cut)
						}
					}
				})
			}
		}
	}
}

func TestACopyRefusesToGoOnFromWhereItNeverWas(t *testing.T) {
	for _, far := range []engine.Progress{{Items: 2}, {Items: 1 << 30}, {Items: -1}} {
		near, _ := loopback.TCP(t, 2)
		set := uniform(3, 100)
		k := newLink(t.Context(), near[0], nil, nil)
		k.cuts = newCuts()
		o := &outgoing{k: k, r: &reading{set: set, work: &work{}}, begin: frame{stage: stageNumbers[measure.StageAll]}, list: []uint32{0, 1}, at: 2, files: 1, bytes: 150}
		_, err := o.resume(replacement{far: far})
		wantCode(t, err, "copy.frame")
		k.end()
	}
}

func TestNothingReplacesAConnectionThatTheCopyDoesNotHave(t *testing.T) {
	p := &relayed{t: t}
	copyOver(t, p, copyOf(t, measure.StageAll, off, 1, 1, 100))
	if _, _, err := p.open(t.Context(), 0, engine.Progress{}); !errors.Is(err, errOver) {
		t.Errorf("after the end: %v", err)
	}
	near, far := loopback.TCP(t, 2)
	k := newLink(t.Context(), near[0], nil, nil)
	k.cuts = newCuts()
	for _, index := range []int{-1, 1} {
		if err := (links{k}).replaceConn(index, far[1], engine.Progress{}, func(engine.Progress) error { return nil }); !errors.Is(err, errNoLink) {
			t.Errorf("connection %d: %v", index, err)
		}
	}
	k.end()
	if err := (links{k}).replaceConn(0, far[1], engine.Progress{}, func(engine.Progress) error { return nil }); !errors.Is(err, errNoLink) {
		t.Errorf("of a link that has ended: %v", err)
	}
}

func TestACopyIsCutAtMostSoOften(t *testing.T) {
	c := newCuts()
	for range measure.MostCopyCuts {
		if err := c.count("peer"); err != nil {
			t.Fatal(err)
		}
	}
	wantCode(t, c.count("peer"), "copy.cuts")
}

// What is sent again is read again: a file that changed meanwhile fails, by its size here and
// by its checksum otherwise.
func TestAFileThatChangesBeforeItIsSentAgainFails(t *testing.T) {
	o := copyOf(t, measure.StageAll, "sha256", 1, 1, 4<<20)
	set, err := Prepare(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	p := &relayed{t: t, cut: map[int][]int{0: {1 << 20}}}
	source, sink := p.conns(1)
	ctx, cancel := context.WithCancelCause(t.Context())
	var both sync.WaitGroup
	both.Go(func() { _, _ = receive(ctx, t.TempDir(), sink, o, p.server()) })
	by := p.client()
	by.Open = func(ctx context.Context, index int, own engine.Progress) (*net.TCPConn, engine.Progress, error) {
		files, _ := filepath.Glob(filepath.Join(OptionsOf(o).Disk, ".soku-copy-*", "source", "0", "0"))
		for _, f := range files {
			if err := os.Truncate(f, 10); err != nil {
				t.Error(err)
			}
		}
		return p.open(ctx, index, own)
	}
	_, err = Source(ctx, set, source, o, engine.Flow{Reconnect: by})
	wantCode(t, err, "copy.changed")
	cancel(err)
	both.Wait()
}

// The time of the cut is no time of the network.
func TestATimeOfACutIsNotThatOfTheNetwork(t *testing.T) {
	const wait = 150 * time.Millisecond
	p := &relayed{t: t, cut: map[int][]int{0: {500_000}}}
	by := p.client()
	first := true
	o := copyOf(t, measure.StageAll, off, 1, 4, 1<<20)
	set, err := Prepare(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	source, sink := p.conns(1)
	by.Open = func(ctx context.Context, index int, own engine.Progress) (*net.TCPConn, engine.Progress, error) {
		if first {
			first = false
			time.Sleep(wait)
		}
		return p.open(ctx, index, own)
	}
	var both sync.WaitGroup
	var got received
	both.Go(func() { got, _ = receive(t.Context(), t.TempDir(), sink, o, p.server()) })
	c, err := Source(t.Context(), set, source, o, engine.Flow{Reconnect: by})
	close(p.finished)
	both.Wait()
	if err != nil {
		t.Fatal(err)
	}
	s := c.Stages[0]
	if len(c.Cuts) != 1 || c.Cuts[0].DurationNs < int64(wait) || s.Source.CutNs < int64(wait) || s.Source.BlockedNs < s.Source.CutNs ||
		s.Source.NetworkNs < 0 || s.DurationNs < int64(wait) || got.work.cut.Load() < int64(wait)/2 {
		t.Errorf("cuts %+v, source %+v, sink cut for %d ns", c.Cuts, s.Source, got.work.cut.Load())
	}
}

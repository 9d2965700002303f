package filecopy

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock/pace"
	"soku/test/loopback"
)

// broker connects the two ends of a copy again without a protocol: what the client opens is
// given to the server.
type broker struct {
	t    *testing.T
	mu   sync.Mutex
	take func(int, *net.TCPConn, engine.Progress, func(engine.Progress) error) error

	told sync.Mutex
	tell func(int)
}

func (b *broker) watch(lost func(int)) func() {
	b.told.Lock()
	defer b.told.Unlock()
	b.tell = lost
	return func() { b.watch(nil) }
}

func (b *broker) lost(index int) {
	b.told.Lock()
	defer b.told.Unlock()
	if b.tell != nil {
		b.tell(index)
	}
}

func (b *broker) client() *engine.Reconnect {
	return &engine.Reconnect{Watch: b.watch, Open: func(_ context.Context, index int, own engine.Progress) (*net.TCPConn, engine.Progress, error) {
		return b.open(index, own)
	}}
}

func (b *broker) server() *engine.Reconnect {
	set := func(take func(int, *net.TCPConn, engine.Progress, func(engine.Progress) error) error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.take = take
	}
	return &engine.Reconnect{Lost: b.lost, Take: func(take func(int, *net.TCPConn, engine.Progress, func(engine.Progress) error) error) func() {
		set(take)
		return func() { set(nil) }
	}}
}

var errOver = errors.New("over")

// open gives the server a connection of that index, and returns the other end.
func (b *broker) open(index int, own engine.Progress) (c *net.TCPConn, far engine.Progress, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.take == nil {
		return nil, far, errOver
	}
	near, there := loopback.TCP(b.t, 1)
	err = b.take(index, there[0], own, func(p engine.Progress) error { far = p; return nil })
	return near[0], far, err
}

// reset ends a connection as a firewall does.
func reset(c *net.TCPConn) {
	_ = c.SetLinger(0)
	_ = c.Close()
}

// resumed copies over two connections, whose sink reads so slowly that they are full, and calls during with those of the client and the
// broker when the first live interval has come. The server is the sink or the source.
func resumed(t *testing.T, reverse bool, edit func(*Options), during func(b *broker, conns []*net.TCPConn)) (source, sink *measure.Copy, err error) {
	t.Helper()
	disk, folder := t.TempDir(), t.TempDir()
	o := options(t, func(o *measure.Options, own *Options) {
		own.Disk, own.Files, own.FileSize = disk, 8, 1<<20
		o.Streams, o.Interval = 2, measure.Duration(100e6)
		edit(own)
	})
	set, err := Prepare(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	root, err := OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	b := &broker{t: t}
	near, far := loopback.TCP(t, 2)
	sourceConns, sinkConns, ofSource, ofSink := near, far, b.client(), b.server()
	if reverse {
		sourceConns, sinkConns, ofSource, ofSink = far, near, ofSink, ofSource
	}
	var sinkErr error
	var ended, once sync.WaitGroup
	var first sync.Once
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	ended.Go(func() {
		if sink, sinkErr = Sink(ctx, root, sinkConns, o, engine.Flow{Reconnect: ofSink, Limit: engine.Limit{In: pace.NewBudget(200e6, 0)}}); sinkErr != nil {
			cancel(sinkErr)
		}
	})
	source, err = Source(ctx, set, sourceConns, o, engine.Flow{Reconnect: ofSource, Observe: func(measure.Progress) {
		first.Do(func() { once.Go(func() { during(b, near) }) })
	}})
	if err != nil {
		cancel(err)
	}
	once.Wait()
	ended.Wait()
	set.Close()
	empty(t, disk)
	empty(t, folder)
	return source, sink, errors.Join(err, sinkErr)
}

func TestAStreamGoesOnAfterItsConnectionIsReset(t *testing.T) {
	for _, reverse := range []bool{false, true} {
		for _, checksum := range []string{"sha256", off} {
			source, sink, err := resumed(t, reverse, func(own *Options) { own.Checksum = checksum }, func(_ *broker, conns []*net.TCPConn) {
				reset(conns[0])
				reset(conns[1])
			})
			if err != nil {
				t.Fatal(err)
			}
			all := sink.StageNamed(measure.StageAll)
			if all.Bytes != 8<<20 || all.Files != 8 || checksum != off && sink.Verified != 8 || len(source.Cuts) != 2 {
				t.Errorf("reverse %v: %+v, %d verified, cuts %+v", reverse, all, sink.Verified, source.Cuts)
			}
			// What was sent is what was received, and what was on its way at a cut; the source
			// has received an answer, too.
			sent := source.StageNamed(measure.StageAll).Source.NetworkBytes
			if resent := source.Cuts[0].ResentBytes + source.Cuts[1].ResentBytes; sent-all.Sink.NetworkBytes != resent+1 || resent == 0 {
				t.Errorf("reverse %v: sent %d, received %d, sent twice %d", reverse, sent, all.Sink.NetworkBytes, resent)
			}
		}
	}
}

// Who knows the secret, or a client with a defect, cannot make an end send what it has not
// sent or take what it has, and ends nothing but the copy.
func TestACopyRefusesToGoOnFromWhereItNeverWas(t *testing.T) {
	var refused []error
	_, _, err := resumed(t, false, func(*Options) {}, func(b *broker, _ []*net.TCPConn) {
		for index, received := range map[int]int64{0: 5, 1: 1 << 62, 2: 0, -1: 0} {
			_, _, err := b.open(index, engine.Progress{Received: received})
			refused = append(refused, err)
		}
	})
	if err != nil {
		t.Fatal("the client of the session opened what was taken from it:", err)
	}
	if len(refused) != 4 || errors.Join(refused...) == nil {
		t.Fatalf("%v", refused)
	}
	for _, err := range refused {
		if err == nil {
			t.Errorf("a connection was accepted: %v", refused)
		}
	}
}

// The last one counts.
func TestAConnectionMayBeOpenedAgainTwiceAtOnce(t *testing.T) {
	source, sink, err := resumed(t, false, func(*Options) {}, func(b *broker, conns []*net.TCPConn) {
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				if c, _, err := b.open(0, engine.Progress{}); err == nil {
					reset(c)
				}
			})
		}
		both.Wait()
		reset(conns[0]) // the session's client opens a third
	})
	if err != nil || sink.Verified != 8 || len(source.Cuts) == 0 {
		t.Errorf("%v, %d verified, cuts %+v", err, sink.Verified, source.Cuts)
	}
}

func TestNothingIsOpenedAgainAfterTheEnd(t *testing.T) {
	var kept *broker
	if _, _, err := resumed(t, false, func(*Options) {}, func(b *broker, _ []*net.TCPConn) { kept = b }); err != nil {
		t.Fatal(err)
	}
	if _, _, err := kept.open(0, engine.Progress{}); !errors.Is(err, errOver) {
		t.Errorf("error %v", err)
	}
}

// What is sent again is read again: a file that changed meanwhile fails, by its size here and
// by its checksum else.
func TestAFileThatChangesBeforeItIsSentAgainFails(t *testing.T) {
	var disk string
	_, _, err := resumed(t, false, func(own *Options) { disk, own.Files, own.FileSize = own.Disk, 1, 16<<20 }, func(_ *broker, conns []*net.TCPConn) {
		files, _ := filepath.Glob(filepath.Join(disk, ".soku-copy-*", "source", "0", "*"))
		for _, f := range files {
			if err := os.Truncate(f, 0); err != nil {
				t.Error(err)
			}
		}
		reset(conns[0])
		reset(conns[1])
	})
	wantCode(t, err, "copy.changed")
}

func TestACopyIsCutAtMostSoOften(t *testing.T) {
	c := newCuts()
	for range measure.MostCopyCuts {
		if err := c.room("peer"); err != nil {
			t.Fatal(err)
		}
		c.add(0, 0, 0)
	}
	wantCode(t, c.room("peer"), "copy.cuts")
}

// All that was sent can be sent again, in pieces of any length.
func TestWhatWasSentIsSentAgainByteByByte(t *testing.T) {
	o := options(t, func(_ *measure.Options, own *Options) { own.Disk, own.Files, own.FileSize = t.TempDir(), 3, 5000 })
	set, err := Prepare(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	begin := frame{frameStage, stageNumbers[measure.StageAll], entry{1, 3, 15000}}
	s := &sentStage{set: set, stage: begin.stage, disk: true, contents: true, from: 100, offset: 100 + frameSize, begin: begin, sumSize: 4}
	defer s.close()
	want := begin.append(nil)
	for i, sum := range []string{"aaaa", "bbbb", "cccc"} {
		e := set.entries[2-i] // in another order than that of the set
		data, err := set.root.ReadFile(set.names[e.file])
		if err != nil {
			t.Fatal(err)
		}
		want = append(append(frame{frameFile, begin.stage, e}.append(want), data...), sum...)
		s.files, s.sums = append(s.files, e.file), append(s.sums, sum...)
	}
	want = frame{kind: frameOver}.append(frame{kind: frameEnd}.append(want))
	for _, from := range []int{0, 20, 24, 47, 5040, 48, 5051, 5052, 10_000, len(want) - 1, 3} { // forwards and back
		for _, piece := range []int{1 << 16, 7} {
			var got []byte
			for at := from; at < min(len(want), from+6000); {
				b := make([]byte, piece)
				n, err := s.read(b, int64(100+at))
				if err != nil || n <= 0 {
					t.Fatal(n, err)
				}
				got = append(got, b[:n]...)
				at += n
			}
			if end := min(len(want), from+len(got)); string(got) != string(want[from:end]) {
				t.Errorf("from %d in pieces of %d: other bytes", from, piece)
			}
		}
	}
}

// A firewall that resets a connection towards the server alone: the client learns of it from the
// server, and nothing else tells.
func TestAClientLearnsFromItsServerThatAConnectionIsCut(t *testing.T) {
	near, far := loopback.TCP(t, 1)
	b := &broker{t: t}
	ctx := t.Context()
	o := options(t, func(*measure.Options, *Options) {})
	server, _, stopServer, err := openLinks(ctx, far, o, engine.Flow{Reconnect: b.server()}, measure.Sender)
	if err != nil {
		t.Fatal(err)
	}
	defer stopServer()
	client, _, stopClient, err := openLinks(ctx, near, o, engine.Flow{Reconnect: b.client()}, measure.Receiver)
	if err != nil {
		t.Fatal(err)
	}
	defer stopClient()
	_ = far[0].SetDeadline(past) // the call fails, and the client's connection stands
	want := frame{kind: frameOver}
	go func() { _ = server[0].send(want); _ = server[0].flush() }()
	if got, err := client[0].receive(); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
}

// The last call before a cut may have moved a part of its bytes, and then waited.
func TestACutBeginsWithTheCallThatWaited(t *testing.T) {
	near, far := loopback.TCP(t, 1)
	b := &broker{t: t}
	o := options(t, func(*measure.Options, *Options) {})
	client, cuts, stopClient, err := openLinks(t.Context(), near, o, engine.Flow{Reconnect: b.client()}, measure.Sender)
	if err != nil {
		t.Fatal(err)
	}
	defer stopClient()
	server, _, stopServer, err := openLinks(t.Context(), far, o, engine.Flow{Reconnect: b.server()}, measure.Receiver)
	if err != nil {
		t.Fatal(err)
	}
	defer stopServer()
	const bytes, some, wait = 32 << 20, 1 << 20, 20 * time.Millisecond
	sent := make(chan error)
	go func() {
		_, err := client[0].out.Write(make([]byte, bytes))
		sent <- errors.Join(err, client[0].flush())
	}()
	if _, err := io.CopyN(io.Discard, server[0].in, some); err != nil {
		t.Fatal(err)
	}
	time.Sleep(wait) // nothing is read
	_ = near[0].SetDeadline(past)
	if _, err := io.CopyN(io.Discard, server[0].in, bytes-some); err != nil {
		t.Fatal(err)
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	if all := cuts.all(); len(all) != 1 || all[0].DurationNs < int64(wait) || client[0].work.Load().cut.Load() < int64(wait) {
		t.Errorf("cuts %+v, %d ns in calls", all, client[0].work.Load().cut.Load())
	}
}

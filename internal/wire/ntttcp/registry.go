package ntttcp

import (
	"context"
	"net"
	"slices"
	"sync"
	"time"

	"soku/internal/sock"
)

// SendersMost is the maximum number of senders of a test, including the last.
const SendersMost = 8

// Limits on what unknown peers can make a registry hold.
const (
	connsMost = 64               // sync connections at a time
	wordTime  = 3 * time.Minute  // between two words of a sender before the test: it opens its data connections
	leaveTime = 10 * time.Second // for writing a word
)

// RegistryOptions are the receiver's parameters.
type RegistryOptions struct {
	Seconds int  // of the receiver's own test; 0: until interrupted
	Multi   bool // several senders, which all run Seconds and start with the last
	// Begins is called before the senders of a test get Run: payload received from then on
	// belongs to the test. It must not call the registry. It may be nil.
	Begins func()
	// Log gets a line per event, from any goroutine. It may be nil.
	Log func(line string)
}

// Registry is the receiver's end of all sync connections: it negotiates the duration with
// senders, starts a test when they request it, and ends it when one of them ends it. Its
// methods are safe for concurrent use.
type Registry struct {
	o RegistryOptions

	begun chan Test

	mu      sync.Mutex
	state   Word
	busy    bool         // from the start of a test until Done
	test    *senderGroup // running, or waiting for its last sender
	waiting []*syncConn
	conns   connTable
}

// Test has the negotiated parameters of a test.
type Test struct {
	Seconds int // 0: until interrupted
	Senders int
	// Over is closed when a sender ends the test early, and in a test without a duration
	// when all senders have disconnected.
	Over <-chan struct{}
}

// senderGroup has the sync connections of one test.
type senderGroup struct {
	over    chan struct{}
	once    sync.Once
	members map[*syncConn]bool // with open connections
	timed   bool
}

func newSenderGroup(timed bool) *senderGroup {
	return &senderGroup{over: make(chan struct{}), members: map[*syncConn]bool{}, timed: timed}
}

func (t *senderGroup) end() { t.once.Do(func() { close(t.over) }) }

// syncConn is the receiver's end of one sync connection.
type syncConn struct {
	conn    net.Conn
	seconds int
	inTest  bool // its test waits or runs; guarded by the registry
}

// NewRegistry returns a registry without connections.
func NewRegistry(o RegistryOptions) *Registry {
	if o.Log == nil {
		o.Log = func(string) {}
	}
	if o.Begins == nil {
		o.Begins = func() {}
	}
	return &Registry{o: o, begun: make(chan Test, 1), state: NotStarted, conns: newConnTable(connsMost)}
}

// Begun delivers each test that starts. The next starts only after [Registry.Done].
func (r *Registry) Begun() <-chan Test { return r.begun }

// Open is the number of open sync connections.
func (r *Registry) Open() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.conns.all)
}

// Done reports that the receiver has ended the running test.
func (r *Registry) Done() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.test != nil {
		for t := range r.test.members {
			_ = t.conn.SetReadDeadline(time.Now().Add(leaveTime))
		}
	}
	r.state, r.test, r.busy = Finished, nil, false
}

// Serve serves l until ctx ends, and returns the error of a failed listener, of kind
// broken. It closes l and all connections.
func (r *Registry) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	return sock.Accept(ctx, l, func(c net.Conn) {
		t := &syncConn{conn: c}
		if !r.enter(t) {
			_ = c.Close()
			return
		}
		all.Go(func() {
			defer r.leave(t)
			defer c.Close()
			closing := context.AfterFunc(ctx, func() { _ = c.Close() })
			defer closing()
			r.serve(t)
		})
	})
}

func (r *Registry) enter(t *syncConn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.conns.add(t)
}

func (r *Registry) leave(t *syncConn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conns.remove(t)
}

// serve answers the words of one sender, by their order.
func (r *Registry) serve(t *syncConn) {
	r.o.Log("Sync connection: " + t.conn.RemoteAddr().String() + " --> " + t.conn.LocalAddr().String())
	w, ok := t.next(wordTime)
	if !ok || w != Query || !t.say(r.now()) {
		return
	}
	if w, ok = t.next(wordTime); !ok {
		return
	}
	if t.seconds, ok = r.agree(w); !ok || !t.say(Word(t.seconds)) {
		return
	}
	w, ok = t.next(wordTime)
	if !ok {
		return
	}
	var test *senderGroup
	switch w {
	case Run:
		test, ok = r.run(t)
	case Last:
		test, ok = r.runAll(t)
	default: // the sender gave up
		ok = false
	}
	if !ok {
		_ = t.say(Exit)
		return
	}
	r.hear(t, test)
}

func (r *Registry) now() Word {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

// agree returns the duration that the receiver answers: its own with several senders, otherwise
// the longer of both. A duration of 0 has no end and is the longest.
func (r *Registry) agree(asked Word) (seconds int, ok bool) {
	switch {
	case asked < 0 || asked > SecondsMost:
		return 0, false
	case r.o.Multi:
		return r.o.Seconds, true
	case asked == 0 || r.o.Seconds == 0:
		return 0, true
	}
	return max(int(asked), r.o.Seconds), true
}

// run starts the test of a single sender; one of several waits for the last.
func (r *Registry) run(t *syncConn) (*senderGroup, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy {
		return nil, false
	}
	if !r.o.Multi {
		return r.begin([]*syncConn{t}), true
	}
	if len(r.waiting) >= SendersMost-1 {
		r.o.Log("too many senders; one is turned away")
		return nil, false
	}
	if r.test == nil {
		r.test = newSenderGroup(r.o.Seconds > 0)
	}
	r.waiting = append(r.waiting, t)
	r.test.members[t], t.inTest = true, true
	return r.test, t.say(Wait)
}

// runAll starts the test of all waiting senders and the last.
func (r *Registry) runAll(t *syncConn) (*senderGroup, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy || !r.o.Multi {
		return nil, false
	}
	all := append(r.waiting, t)
	r.waiting = nil
	return r.begin(all), true
}

// begin sends Run to the senders, and delivers the test to the receiver.
func (r *Registry) begin(all []*syncConn) *senderGroup {
	last := all[len(all)-1]
	if r.test == nil {
		r.test = newSenderGroup(last.seconds > 0)
	}
	test := r.test
	test.members[last], last.inTest = true, true
	r.state, r.busy = Running, true
	r.o.Begins()
	for _, t := range all {
		_ = t.say(Run)
	}
	r.begun <- Test{Seconds: last.seconds, Senders: len(all), Over: test.over}
	return test
}

// hear answers a sender's words while its test waits or runs.
func (r *Registry) hear(t *syncConn, test *senderGroup) {
	defer r.gone(t, test)
	for {
		r.await(t, test)
		w, err := ReadWord(t.conn)
		if err != nil {
			return
		}
		ok := false
		switch w {
		case Query:
			ok = t.say(r.now())
		case Exit:
			ok = t.say(r.exit(test))
		}
		if !ok {
			return
		}
	}
}

// await sets how long a sender may send nothing: as long as its test lasts.
func (r *Registry) await(t *syncConn, test *senderGroup) {
	r.mu.Lock()
	defer r.mu.Unlock()
	deadline := time.Time{}
	if r.test != test {
		deadline = time.Now().Add(leaveTime)
	}
	_ = t.conn.SetReadDeadline(deadline)
}

// exit ends a sender's test early if it still runs.
func (r *Registry) exit(test *senderGroup) Word {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state == Running && r.test == test {
		r.o.Log("the sender ended the test")
		r.state = Finished
		test.end()
	}
	return r.state
}

// gone records that a sender's connection is closed. A test without a duration ends with
// its last sender; a waiting test continues without this one.
func (r *Registry) gone(t *syncConn, test *senderGroup) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = slices.DeleteFunc(r.waiting, func(w *syncConn) bool { return w == t })
	delete(test.members, t)
	if len(test.members) == 0 && !test.timed && r.state == Running && r.test == test {
		test.end()
	}
}

// next reads a word within most.
func (t *syncConn) next(most time.Duration) (Word, bool) {
	_ = t.conn.SetReadDeadline(time.Now().Add(most))
	w, err := ReadWord(t.conn)
	return w, err == nil
}

func (t *syncConn) say(w Word) bool {
	_ = t.conn.SetWriteDeadline(time.Now().Add(leaveTime))
	return WriteWord(t.conn, w) == nil
}

package ntttcp

import (
	"context"
	"net"
	"sync"
	"time"

	"soku/internal/sock"
)

// SendersMost is how many senders a test has at most, the last included.
const SendersMost = 8

// Bounds on what strangers can make a registry hold.
const (
	talksMost = 64               // sync connections at a time
	wordTime  = 3 * time.Minute  // from one word of a sender to the next, before the test
	leaveTime = 10 * time.Second // to take a word
)

// RegistryOptions say what a receiver agrees to.
type RegistryOptions struct {
	Seconds int  // of the receiver's own test; 0 is until interrupted
	Multi   bool // several senders, who all run Seconds and begin with the last
	// Begins is called before the senders of a test are told to run: what comes from
	// then on is of the test. It must not call the registry; nil: nobody is told.
	Begins func()
	// Tell gets a line for people about what happens, from any goroutine; nil: nobody is told.
	Tell func(line string)
}

// Registry is the receiver's end of all sync connections: it agrees with senders on
// the time, begins a test when they say so, and ends it when one says so. Its
// methods are safe for concurrent use.
type Registry struct {
	o RegistryOptions

	begun chan Test

	mu      sync.Mutex
	state   Word
	busy    bool   // from a test's begin until Done
	test    *talks // that is running, or waits for its last sender
	waiting []*talk
	open    int
}

// Test is what senders and receiver agreed on.
type Test struct {
	Seconds int // 0 is until interrupted
	Senders int
	// Over is closed when a sender ends the test before its time, and, where it has
	// none, when all senders are gone.
	Over <-chan struct{}
}

// talks are those of one test.
type talks struct {
	over    chan struct{}
	once    sync.Once
	members map[*talk]bool // whose connections are open
	timed   bool
}

func newTalks(timed bool) *talks {
	return &talks{over: make(chan struct{}), members: map[*talk]bool{}, timed: timed}
}

func (t *talks) end() { t.once.Do(func() { close(t.over) }) }

// talk is one sync connection.
type talk struct {
	conn    net.Conn
	seconds int
}

// NewRegistry returns a registry that nobody has come to.
func NewRegistry(o RegistryOptions) *Registry {
	if o.Tell == nil {
		o.Tell = func(string) {}
	}
	if o.Begins == nil {
		o.Begins = func() {}
	}
	return &Registry{o: o, begun: make(chan Test, 1), state: NotStarted}
}

// Begun delivers each test that begins. The next begins only after [Registry.Done].
func (d *Registry) Begun() <-chan Test { return d.begun }

// Open is how many sync connections there are now.
func (d *Registry) Open() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open
}

// Done says that the receiver is at the end of the test that ran.
func (d *Registry) Done() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.test != nil {
		for t := range d.test.members {
			_ = t.conn.SetReadDeadline(time.Now().Add(leaveTime))
		}
	}
	d.state, d.test, d.busy = Finished, nil, false
}

// Serve answers on l until ctx ends, and returns the error of a listener that
// fails, of kind broken. It closes l and all connections.
func (d *Registry) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	return sock.Accept(ctx, l, func(c net.Conn) {
		if !d.enter() {
			_ = c.Close()
			return
		}
		all.Go(func() {
			defer d.leave()
			defer c.Close()
			closing := context.AfterFunc(ctx, func() { _ = c.Close() })
			defer closing()
			d.talk(&talk{conn: c})
		})
	})
}

func (d *Registry) enter() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open >= talksMost {
		return false
	}
	d.open++
	return true
}

func (d *Registry) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open--
}

// talk goes through the words of one sender, by their order.
func (d *Registry) talk(t *talk) {
	d.o.Tell("Sync connection: " + t.conn.RemoteAddr().String() + " --> " + t.conn.LocalAddr().String())
	w, ok := t.next(wordTime)
	if !ok || w != Query || !t.say(d.now()) {
		return
	}
	if w, ok = t.next(wordTime); !ok {
		return
	}
	if t.seconds, ok = d.agree(w); !ok || !t.say(Word(t.seconds)) {
		return
	}
	w, ok = t.next(wordTime)
	if !ok {
		return
	}
	var test *talks
	switch w {
	case Run:
		test, ok = d.run(t)
	case Last:
		test, ok = d.runAll(t)
	default: // of a sender that gave up
		ok = false
	}
	if !ok {
		_ = t.say(Exit)
		return
	}
	d.hear(t, test)
}

func (d *Registry) now() Word {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state
}

// agree is the time that a receiver answers with: its own for several senders,
// else the longer of both, where none at all is the longest.
func (d *Registry) agree(asked Word) (seconds int, ok bool) {
	switch {
	case asked < 0 || asked > SecondsMost:
		return 0, false
	case d.o.Multi:
		return d.o.Seconds, true
	case asked == 0 || d.o.Seconds == 0:
		return 0, true
	}
	return max(int(asked), d.o.Seconds), true
}

// run begins the test of a single sender; one of several waits for the last, and
// gets no test until that has come.
func (d *Registry) run(t *talk) (*talks, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.busy {
		return nil, false
	}
	if !d.o.Multi {
		return d.begin([]*talk{t}), true
	}
	if len(d.waiting) >= SendersMost-1 {
		d.o.Tell("too many senders; one is turned away")
		return nil, false
	}
	if d.test == nil {
		d.test = newTalks(d.o.Seconds > 0)
	}
	d.waiting = append(d.waiting, t)
	d.test.members[t] = true
	return d.test, t.say(Wait)
}

// runAll begins the test of all who wait and of the last.
func (d *Registry) runAll(t *talk) (*talks, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.busy || !d.o.Multi {
		return nil, false
	}
	all := append(d.waiting, t)
	d.waiting = nil
	return d.begin(all), true
}

// begin tells senders to run, and the receiver.
func (d *Registry) begin(all []*talk) *talks {
	last := all[len(all)-1]
	if d.test == nil {
		d.test = newTalks(last.seconds > 0)
	}
	test := d.test
	test.members[last] = true
	d.state, d.busy = Running, true
	d.o.Begins()
	for _, t := range all {
		_ = t.say(Run)
	}
	d.begun <- Test{Seconds: last.seconds, Senders: len(all), Over: test.over}
	return test
}

// hear waits for what a sender says while its test waits or runs.
func (d *Registry) hear(t *talk, test *talks) {
	defer d.gone(t, test)
	for {
		d.await(t, test)
		w, err := ReadWord(t.conn)
		if err != nil {
			return
		}
		ok := false
		switch w {
		case Query:
			ok = t.say(d.now())
		case Exit:
			ok = t.say(d.exit(test))
		}
		if !ok {
			return
		}
	}
}

// await sets how long a sender may be silent: as long as its test lasts.
func (d *Registry) await(t *talk, test *talks) {
	d.mu.Lock()
	defer d.mu.Unlock()
	deadline := time.Time{}
	if d.test != test {
		deadline = time.Now().Add(leaveTime)
	}
	_ = t.conn.SetReadDeadline(deadline)
}

// exit ends a sender's test before its time, where it still runs.
func (d *Registry) exit(test *talks) Word {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.state == Running && d.test == test {
		d.o.Tell("the sender ended the test")
		d.state = Finished
		test.end()
	}
	return d.state
}

// gone notes that a sender's connection is closed. A test without a time ends
// with its last sender, and one that waits goes on without this one.
func (d *Registry) gone(t *talk, test *talks) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, w := range d.waiting {
		if w == t {
			d.waiting = append(d.waiting[:i:i], d.waiting[i+1:]...)
			break
		}
	}
	delete(test.members, t)
	if len(test.members) == 0 && !test.timed && d.state == Running && d.test == test {
		test.end()
	}
}

// next reads a word, for as long as most.
func (t *talk) next(most time.Duration) (Word, bool) {
	_ = t.conn.SetReadDeadline(time.Now().Add(most))
	w, err := ReadWord(t.conn)
	return w, err == nil
}

func (t *talk) say(w Word) bool {
	_ = t.conn.SetWriteDeadline(time.Now().Add(leaveTime))
	return WriteWord(t.conn, w) == nil
}

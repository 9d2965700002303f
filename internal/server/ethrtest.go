package server

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"soku/internal/engine"
	"soku/internal/engine/flows"
	"soku/internal/engine/latency"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/wire/ethr"
)

const (
	// ethrSyncWait is how long a client that knows the synchronisation has, after the
	// answer to its request, to ask for it on a connection on which it then only
	// receives; the first connection of a test has longer, because it surely asks.
	ethrSyncWait, ethrFirstSyncWait = 100 * time.Millisecond, time.Second
	// ethrPayloadWait is how long the first bytes of a test may take.
	ethrPayloadWait = 10 * time.Second
	// ethrPart is how long an engine runs at a time: a test of Ethr may go on for
	// ever, and what an engine keeps of it grows.
	ethrPart = time.Minute
	// maxEthrMessage bounds what a latency test asks for, bytes; of laps of more than
	// maxEthrRounds round trips this end keeps no times.
	maxEthrMessage, maxEthrRounds = 64 << 10, 100_000
)

// serveEthr serves one connection: it is counted, and belongs to a test of
// connections where nothing is asked on it.
func (s *Server) serveEthr(_ *port, c *net.TCPConn, first []byte) {
	defer c.Close()
	peer, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok || !s.allowed(peer.AddrPort().Addr()) || s.cfg.Token != "" {
		return // Ethr has no token to show
	}
	client := s.ethr.client(ethrKey{client: peer.AddrPort().Addr().Unmap()})
	if client == nil {
		return
	}
	defer client.release()
	client.connections.Add(1)
	s.log.Debug("connection", "protocol", "ethr", "client", peer)
	m, err := ethr.Read(io.MultiReader(bytes.NewReader(first), c))
	if err != nil || m.Kind != ethr.Syn || m.Transport != ethr.TCP {
		return
	}
	if err := s.admitEthr(client, c, m); err != nil {
		s.log.Info("test refused", "protocol", "ethr", "client", peer, "error", err.Error())
		return
	}
	defer s.ethr.leaveRoom()
	s.unclassified.release(c) // from here on it may be silent for longer
	_ = c.SetDeadline(time.Now().Add(s.times.sniff))
	if _, err := c.Write(ethr.Append(nil, ethr.Message{Kind: ethr.Ack, Synced: m.Synced})); err != nil {
		return
	}
	t := &ethrTest{Server: s, client: client, conn: c, request: m}
	ctx, cancel := context.WithCancelCause(client.ctx)
	defer cancel(nil)
	if s.cfg.MaxDuration > 0 {
		limit := time.AfterFunc(s.cfg.MaxDuration.Std(), func() {
			cancel(measure.Errorf(measure.KindRefused, "the server ended the test after %s, its limit (--max-duration)", s.cfg.MaxDuration))
		})
		defer limit.Stop()
	}
	defer context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Now()) })()
	run := t.bandwidth
	if m.Test == ethr.Latency {
		run = t.latency
	}
	if err := run(ctx); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		s.log.Debug("connection of a test ended", "protocol", "ethr", "client", peer, "error", err.Error())
	}
}

// admitEthr checks what is asked for, takes a place for the connection and waits for
// the client's turn. A place that was taken is given back on an error.
func (s *Server) admitEthr(client *ethrClient, c *net.TCPConn, m ethr.Message) error {
	p := m.Params
	switch {
	case client.ctx.Err() != nil:
		return context.Cause(client.ctx)
	case m.Test != ethr.Bandwidth && m.Test != ethr.Latency:
		return measure.Errorf(measure.KindRefused, "test %d is none of a server", m.Test)
	case p.Buffer == 0:
		return measure.Errorf(measure.KindRefused, "a buffer of no bytes")
	case m.Test == ethr.Latency && (p.Buffer > maxEthrMessage || p.Rounds == 0):
		return measure.Errorf(measure.KindRefused, "%d round trips of %d bytes are too much", p.Rounds, p.Buffer)
	case s.cfg.MaxDuration > 0 && p.Duration > s.cfg.MaxDuration.Std():
		return measure.Errorf(measure.KindRefused, "%s is longer than %s, the limit (--max-duration)", p.Duration, s.cfg.MaxDuration)
	}
	if err := client.enter(); err != nil {
		return err
	}
	if !s.ethr.room() {
		return measure.Errorf(measure.KindRefused, "busy: %d connections measure now", maxEthrConns)
	}
	if err := s.awaitTurn(client, c); err != nil {
		s.ethr.leaveRoom()
		return err
	}
	return nil
}

// awaitTurn waits until the client may measure. It sends nothing before its answer,
// so that a read ends only when it is gone.
func (s *Server) awaitTurn(client *ethrClient, c *net.TCPConn) error {
	if client.granted.fired() {
		return nil
	}
	s.unclassified.release(c)
	_ = c.SetDeadline(time.Time{})
	ctx, cancel := context.WithCancel(s.base)
	defer context.AfterFunc(ctx, func() { _ = c.SetReadDeadline(time.Now()) })()
	var watcher sync.WaitGroup
	defer watcher.Wait()
	defer cancel()
	watcher.Go(func() {
		select {
		case <-client.granted.ch:
			cancel()
		case <-ctx.Done():
		}
	})
	_, err := c.Read(make([]byte, 1))
	switch {
	case s.base.Err() != nil:
		return context.Cause(s.base)
	case client.granted.fired() && sock.TimedOut(err):
		return nil
	}
	return errClientGone
}

// ethrTest is one connection of a test after its request was answered.
type ethrTest struct {
	*Server
	client  *ethrClient
	conn    *net.TCPConn
	request ethr.Message
}

// bandwidth moves bytes until the client closes the connection.
func (t *ethrTest) bandwidth(ctx context.Context) error {
	early, err := t.synchronise(ctx)
	if err != nil {
		return err
	}
	t.client.moved(int64(early))
	_ = t.conn.SetDeadline(time.Time{})
	o := measure.Defaults(measure.TestTCP)
	o.Duration, o.Interval = 0, measure.Duration(100*time.Millisecond)
	o.Length = measure.Size(min(t.request.Params.Buffer, 1<<20)) // as much as one of soku's writes
	if t.request.Params.Reverse {
		o.Direction, o.TOS, o.Rate = measure.Reverse, int(t.request.Params.ToS), t.rate()
	}
	observe := func(p measure.Progress) { t.client.moved(p.Bytes) }
	conns := flows.Conns{TCP: []*net.TCPConn{t.conn}}
	for ctx.Err() == nil {
		part, stop := context.WithTimeout(context.Background(), ethrPart)
		flow := engine.Flow{
			Observe: observe,
			Policy:  engine.FlowPolicy{KeepOpen: true, NoPeerReport: true, Over: part.Done()},
		}
		_, err = flows.Sockets.Run(ctx, flows.Server, conns, o, flow)
		over := part.Err() == nil // before its time: the connection has ended
		stop()
		if err != nil || over {
			return err
		}
	}
	return context.Cause(ctx)
}

// rate is what this connection may be sent at: what the client asks of each
// connection, within its share of the server's limit.
func (t *ethrTest) rate() measure.Rate {
	p := t.request.Params
	rate := measure.Rate(min(p.Rate, 1<<50) * 8)
	if most := t.cfg.MaxRate / measure.Rate(max(1, int64(p.Threads))); t.cfg.MaxRate > 0 && (rate == 0 || rate > most) {
		rate = max(most, 1)
	}
	return rate
}

// synchronise agrees with the client on when to begin, if it asks for that, and waits
// until then. early are bytes of payload that were read to find out.
func (t *ethrTest) synchronise(ctx context.Context) (early int, err error) {
	if !t.request.Synced {
		return 0, nil
	}
	begins, early, err := t.question()
	if err != nil || begins.IsZero() {
		return early, err
	}
	wait := time.NewTimer(time.Until(begins))
	defer wait.Stop()
	select {
	case <-wait.C:
		return 0, nil
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// question reads what may be the question for the start, and answers it. Payload
// comes in its place on all connections but the first, or nothing where the client
// only receives; those begin with the first.
func (t *ethrTest) question() (begins time.Time, early int, err error) {
	e := t.ethr
	e.mu.Lock()
	begins = t.client.synchronous
	e.mu.Unlock()
	known := time.Until(begins) > 0 || time.Since(begins) < ethrFirstSyncWait
	wait := ethrPayloadWait
	switch {
	case t.request.Params.Reverse && known:
		wait = ethrSyncWait
	case t.request.Params.Reverse:
		wait = ethrFirstSyncWait
	}
	_ = t.conn.SetReadDeadline(time.Now().Add(wait))
	head := make([]byte, 64)
	n, err := t.beginning(head)
	if err != nil {
		if n == 0 && t.request.Params.Reverse && sock.TimedOut(err) {
			return begins, 0, nil
		}
		return time.Time{}, n, err
	}
	if n == 0 || !isQuestion(head[:n]) {
		return time.Time{}, n, nil
	}
	m, err := ethr.Read(io.MultiReader(bytes.NewReader(head[:n]), t.conn))
	if err != nil || m.Kind != ethr.SyncStart {
		return time.Time{}, 0, errNoQuestion
	}
	return t.answer()
}

var errNoQuestion = errors.New("neither a question nor payload")

// beginning reads as many bytes as it takes to know a message, into head.
func (t *ethrTest) beginning(head []byte) (n int, err error) {
	if n, err = io.ReadFull(t.conn, head[:4]); err != nil {
		return n, err
	}
	ours, more := ethr.Begins(head[:n])
	if !ours || more == 0 {
		return n, nil
	}
	k, err := io.ReadFull(t.conn, head[n:n+more])
	return n + k, err
}

func isQuestion(head []byte) bool {
	if len(head) < 4 || binary.BigEndian.Uint32(head) == 0 {
		return false
	}
	ours, more := ethr.Begins(head)
	return ours && more == 0
}

// answer says when this end's second begins, and hears what that took to arrive.
func (t *ethrTest) answer() (begins time.Time, early int, err error) {
	e := t.ethr
	begins = e.next()
	_ = t.conn.SetDeadline(time.Now().Add(t.times.sniff))
	ready := ethr.Message{Kind: ethr.SyncReady, Delay: max(time.Until(begins), 1), Synced: true}
	if _, err := t.conn.Write(ethr.Append(nil, ready)); err != nil {
		return begins, 0, err
	}
	m, err := ethr.Read(t.conn)
	if err != nil || m.Kind != ethr.SyncGo {
		return begins, 0, errNoQuestion
	}
	e.mu.Lock()
	t.client.synchronous = begins
	e.mu.Unlock()
	return begins, 0, nil
}

// latency answers messages until the client closes the connection.
func (t *ethrTest) latency(ctx context.Context) error {
	_ = t.conn.SetDeadline(time.Time{})
	o := measure.Defaults(measure.TestLatency)
	o.Size = measure.Size(t.request.Params.Buffer)
	rounds := int64(t.request.Params.Rounds)
	var trips []time.Duration
	seen := func(ns int64) {
		t.client.spend(2 * int64(o.Size)) // there and back
		if rounds > maxEthrRounds {
			return
		}
		trips = append(trips, time.Duration(ns))
		if int64(len(trips)) < rounds {
			return
		}
		sum := time.Duration(0)
		for _, d := range trips {
			sum += d
		}
		t.client.latency.Store(int64(sum) / rounds)
		if f := t.ethr.hooks.Lap; f != nil {
			f(t.client.client, trips)
		}
		trips = trips[:0]
	}
	policy := engine.FlowPolicy{ExtraMessageEvery: rounds}
	_, err := latency.Echo(ctx, []net.Conn{t.conn}, o, engine.Flow{Policy: policy}, seen)
	return err
}

// ethrDatagram counts a datagram of Ethr, which has nothing in it that tells it.
func (s *Server) ethrDatagram(at *port, from netip.AddrPort, b []byte) bool {
	if at.protocol == nil || s.cfg.Token != "" {
		return false // on the server's own port it could be anything
	}
	client := s.ethr.client(ethrKey{client: from.Addr(), udp: true})
	if client == nil {
		return true
	}
	defer client.release()
	if client.ctx.Err() == nil && client.enter() == nil && client.granted.fired() {
		client.packets.Add(1)
		client.moved(int64(len(b)))
	}
	return true
}

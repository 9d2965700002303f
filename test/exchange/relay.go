package exchange

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
)

// Relay is placed between a client and a server: it accepts connections and datagrams at
// From, forwards them to To, the same ports on another address, and records the traffic.
// Its methods may be called from any goroutine.
type Relay struct {
	From, To string // addresses without a port
	Ports    []int
	Whole    int // bytes recorded of each direction of a connection; the rest is only counted

	mu   sync.Mutex
	x    Exchange
	kept map[direction]int
	last int // number of the last connection
}

type direction struct {
	conn int
	from From
}

// Run relays until ctx ends and returns the recording; listening is called once when it
// listens. It fails if it cannot listen.
func (r *Relay) Run(ctx context.Context, listening func()) (*Exchange, error) {
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	defer func() { cancel(); work.Wait() }()
	r.kept = map[direction]int{}
	for _, port := range r.Ports {
		address := net.JoinHostPort(r.From, strconv.Itoa(port))
		var config net.ListenConfig
		l, err := config.Listen(ctx, "tcp", address)
		if err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, func() { _ = l.Close() })
		p, err := config.ListenPacket(ctx, "udp", address)
		if err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, func() { _ = p.Close() })
		work.Go(func() { r.accept(ctx, l, port) })
		work.Go(func() { r.datagrams(ctx, p, port) })
	}
	listening()
	<-ctx.Done()
	work.Wait()
	return &r.x, nil
}

func (r *Relay) open(network string, port int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	r.x.add(Step{Conn: r.last, From: Client, Kind: Open, Network: network, Port: port})
	return r.last
}

// saw records bytes up to the limit and counts the rest.
func (r *Relay) saw(d direction, b []byte, stream bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	whole := min(len(b), r.Whole-r.kept[d])
	if !stream && whole < len(b) {
		whole = 0 // a datagram is recorded completely or not at all
	}
	r.kept[d] += whole
	if whole > 0 {
		r.x.add(Step{Conn: d.conn, From: d.from, Kind: Bytes, Bytes: b[:whole]})
	}
	if n := len(b) - whole; n > 0 {
		r.kept[d] = r.Whole
		r.x.add(Step{Conn: d.conn, From: d.from, Kind: More, N: int64(n)})
	}
}

// ended records the end of a direction. A reset ends both, so only the first is recorded.
func (r *Relay) ended(d direction, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kind := End
	if err != nil {
		kind = Reset
	}
	r.x.add(Step{Conn: d.conn, From: d.from, Kind: kind})
	if r.x.check() != nil {
		r.x.Steps = r.x.Steps[:len(r.x.Steps)-1]
	}
}

func (r *Relay) accept(ctx context.Context, l net.Listener, port int) {
	var work sync.WaitGroup
	defer work.Wait()
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		conn := r.open("tcp", port)
		work.Go(func() { r.connection(ctx, client.(*net.TCPConn), conn, port) })
	}
}

func (r *Relay) connection(ctx context.Context, client *net.TCPConn, conn, port int) {
	defer client.Close()
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(r.To, strconv.Itoa(port)))
	if err != nil {
		r.ended(direction{conn, Server}, err)
		_ = client.SetLinger(0)
		return
	}
	server := c.(*net.TCPConn)
	defer server.Close()
	defer context.AfterFunc(ctx, func() { _ = client.Close(); _ = server.Close() })()
	var work sync.WaitGroup
	work.Go(func() { r.carry(server, client, direction{conn, Client}) })
	r.carry(client, server, direction{conn, Server})
	work.Wait()
}

// carry copies one direction, and ends it on the other side in the same way.
func (r *Relay) carry(to, from *net.TCPConn, d direction) {
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		if n > 0 {
			r.saw(d, b[:n], true)
			if _, err := to.Write(b[:n]); err != nil {
				return // the reader of that side reports the error
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			r.ended(d, nil)
			_ = to.CloseWrite()
			return
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			r.ended(d, err)
			_ = to.SetLinger(0)
			_ = to.Close()
			return
		}
	}
}

func (r *Relay) datagrams(ctx context.Context, p net.PacketConn, port int) {
	type peer struct {
		server net.Conn
		conn   int
	}
	peers, b := map[string]peer{}, make([]byte, 64<<10)
	var work sync.WaitGroup
	defer work.Wait()
	for len(peers) < maxConns {
		n, from, err := p.ReadFrom(b)
		if err != nil {
			return
		}
		to, known := peers[from.String()]
		if !known {
			var dialer net.Dialer
			server, err := dialer.DialContext(ctx, "udp", net.JoinHostPort(r.To, strconv.Itoa(port)))
			if err != nil {
				continue
			}
			context.AfterFunc(ctx, func() { _ = server.Close() })
			to = peer{server, r.open("udp", port)}
			peers[from.String()] = to
			work.Go(func() { r.answers(p, from, server, to.conn) })
		}
		r.saw(direction{to.conn, Client}, b[:n], false)
		_, _ = to.server.Write(b[:n])
	}
}

func (r *Relay) answers(p net.PacketConn, client net.Addr, server net.Conn, conn int) {
	b := make([]byte, 64<<10)
	for {
		n, err := server.Read(b)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			r.saw(direction{conn, Server}, b[:n], false)
			_, _ = p.WriteTo(b[:n], client)
		}
	}
}

// Note adds a remark to the recording.
func (r *Relay) Note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.x.Notes = append(r.x.Notes, fmt.Sprintf(format, args...))
}

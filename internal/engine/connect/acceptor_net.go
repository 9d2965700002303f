package connect

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"
	"time"

	"soku/internal/measure"
	"soku/internal/panics"
	"soku/internal/sock"
)

// netAcceptor is the portable implementation.
type netAcceptor struct{ l *net.TCPListener }

func listenNet(local netip.Addr, _ measure.Options) (acceptor, int, string, error) {
	var config net.ListenConfig
	config.SetMultipathTCP(false)
	l, err := config.Listen(context.Background(), "tcp", netip.AddrPortFrom(local, 0).String())
	if err != nil {
		return nil, 0, "", err
	}
	t := l.(*net.TCPListener)
	return netAcceptor{t}, t.Addr().(*net.TCPAddr).Port, netPath, nil
}

func (a netAcceptor) threads() int { return 1 }
func (a netAcceptor) close()       { _ = a.l.Close() }

// drain makes a connection of its own and accepts until that one arrives: the queue keeps
// the order. A deadline alone is not enough, because Accept with an expired deadline
// returns without reading the queue.
func (a netAcceptor) drain(ctx context.Context) {
	dialer := net.Dialer{Timeout: drainTime}
	last, err := dialer.DialContext(ctx, "tcp", a.l.Addr().String())
	if err == nil {
		defer sock.Abort(last.(*net.TCPConn))
	}
	_ = a.l.SetDeadline(sock.Now().Add(drainTime))
	defer func() { _ = a.l.SetDeadline(time.Time{}) }()
	for {
		c, failed := a.l.AcceptTCP()
		if failed != nil {
			return
		}
		_ = c.Close()
		if err == nil && c.RemoteAddr().String() == last.LocalAddr().String() {
			return
		}
	}
}

// drainTime limits each of the two waits of drain, in case its own connection does not
// succeed.
const drainTime = 500 * time.Millisecond

// atOnce is how many connections are answered at a time.
const atOnce = 1024

func (a netAcceptor) serve(ctx context.Context, pins *sock.Pins, l *Listener) {
	defer pins.Keep(measure.Receiver)()
	woken := make(chan struct{})
	release := context.AfterFunc(ctx, func() {
		defer close(woken)
		_ = a.l.SetDeadline(time.Unix(1, 0))
	})
	defer release()
	var open panics.Group
	defer open.Wait()
	turns := make(chan struct{}, atOnce)
	for over := false; ; {
		if !over && ctx.Err() != nil {
			// Connections set up before the end count, even if they are not accepted yet.
			over = true
			if !release() {
				<-woken
			}
			_ = a.l.SetDeadline(sock.Now().Add(tick))
		}
		c, err := a.l.AcceptTCP()
		if err != nil {
			if over {
				return
			}
			if outOfFiles(err) {
				l.noFiles.Store(true)
				time.Sleep(10 * time.Millisecond)
			}
			continue
		}
		if !l.known(c.RemoteAddr().(*net.TCPAddr).AddrPort().Addr()) {
			l.foreign.Add(1)
			_ = c.Close()
			continue
		}
		if !l.within() {
			_ = c.Close()
			continue
		}
		l.count(1, l.now())
		if l.size == 0 {
			_ = c.Close()
			continue
		}
		turns <- struct{}{}
		open.Go(func() {
			defer func() { <-turns }()
			end := context.AfterFunc(ctx, func() { _ = c.Close() })
			defer end()
			l.answer(c)
			_ = c.Close()
		})
	}
}

func outOfFiles(err error) bool {
	var e syscall.Errno
	return errors.As(err, &e) && outcomeOf(e) == noFile
}

package server

import (
	"bufio"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"soku/internal/measure"
	"soku/internal/wire/native"
)

// inNamespace runs f on a thread inside ns. Sockets made there stay there.
func inNamespace(t *testing.T, ns netns.NsHandle, f func() error) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		var err error
		defer func() { done <- err }()
		if err = netns.Set(ns); err == nil {
			err = f()
		}
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// newNamespace makes a network namespace that goes away with the test.
func newNamespace(t *testing.T) netns.NsHandle {
	t.Helper()
	made := make(chan netns.NsHandle, 1)
	failed := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		ns, err := netns.New()
		if err != nil {
			failed <- err
			return
		}
		made <- ns
	}()
	select {
	case ns := <-made:
		t.Cleanup(func() { _ = ns.Close() })
		return ns
	case err := <-failed:
		t.Fatal(err)
		return 0
	}
}

// twoHosts joins two namespaces with a cable and returns what pulls it out.
func twoHosts(t *testing.T) (server, client netns.NsHandle, pull func()) {
	t.Helper()
	server, client = newNamespace(t), newNamespace(t)
	onLink := func(ns netns.NsHandle, name string, f func(netlink.Link) error) {
		t.Helper()
		inNamespace(t, ns, func() error {
			link, err := netlink.LinkByName(name)
			if err != nil {
				return err
			}
			return f(link)
		})
	}
	set := func(ns netns.NsHandle, name, addr string) {
		t.Helper()
		onLink(ns, name, func(link netlink.Link) error {
			a, err := netlink.ParseAddr(addr)
			if err != nil {
				return err
			}
			if err := netlink.AddrAdd(link, a); err != nil {
				return err
			}
			return netlink.LinkSetUp(link)
		})
	}
	inNamespace(t, server, func() error {
		return netlink.LinkAdd(&netlink.Veth{
			LinkAttrs: netlink.LinkAttrs{Name: "soku-s"}, PeerName: "soku-c", PeerNamespace: netlink.NsFd(client),
		})
	})
	set(server, "soku-s", "192.0.2.1/30")
	set(client, "soku-c", "192.0.2.2/30")
	return server, client, func() { onLink(client, "soku-c", netlink.LinkSetDown) }
}

func TestAHostThatVanishesWithoutAFarewellIsNoticed(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("making network namespaces needs root")
	}
	t.Parallel()
	serverSide, clientSide, pull := twoHosts(t)
	var s *running
	inNamespace(t, serverSide, func() error {
		s = serve(t, Config{Listen: "192.0.2.1:0", Exclusive: true}, func(s *Server) {
			s.times.heartbeat, s.times.silence = 100*time.Millisecond, 800*time.Millisecond
		})
		return nil
	})
	var c net.Conn
	inNamespace(t, clientSide, func() (err error) {
		c, err = net.Dial("tcp", s.addr)
		return err
	})
	defer c.Close()
	x := &raw{t: t, addr: s.addr, conn: c, in: bufio.NewReader(c)}
	body, _ := json.Marshal(native.CreateRequest{Test: measure.TestTCP, Options: tcpOptions()})
	response := x.ask(c, x.in, http.MethodPost, native.SessionsPath, string(body))
	if err := native.DecodeBody(response.Body, native.MaxReply, &x.created); err != nil {
		t.Fatal(err)
	}
	x.attach()
	for x.event().Event != native.EventAlive {
	}
	pull()
	begin := time.Now()
	// Without TCP_USER_TIMEOUT the data time of 10 s would end the session, or
	// a quarter of an hour the connection of one that runs.
	eventually(t, 5*time.Second, "the session is still there", func() bool { return s.sessions.len() == 0 })
	t.Logf("noticed after %s", time.Since(begin).Round(time.Millisecond))
}

package server

import (
	"bufio"
	"encoding/json"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"soku/internal/measure"
	"soku/internal/wire/native"
	"soku/test/cable"
	"soku/test/tier"
)

func TestAHostThatVanishesWithoutAFarewellIsNoticed(t *testing.T) {
	tier.SpendsSeconds(t)
	serverSide, clientSide := cable.Pair(t)
	t.Parallel()
	var s *running
	serverSide.Do(t, func() error {
		s = serve(t, Config{Listen: serverSide.Addr.String() + ":0", Exclusive: true}, func(s *Server) {
			s.times.heartbeat, s.times.silence = 100*time.Millisecond, 800*time.Millisecond
		})
		return nil
	})
	var c net.Conn
	clientSide.Do(t, func() (err error) {
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
	clientSide.Link(t, netlink.LinkSetDown)
	begin := time.Now()
	// Without TCP_USER_TIMEOUT the data time of 10 s would end the session, or
	// a quarter of an hour the connection of one that runs.
	eventually(t, 5*time.Second, "the session is still there", func() bool { return s.sessions.len() == 0 })
	t.Logf("noticed after %s", time.Since(begin).Round(time.Millisecond))
}

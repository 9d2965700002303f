package lab

import (
	"net"
	"testing"
	"time"
)

func TestALinkThatIsMadePassesPackets(t *testing.T) {
	l := up(t, "hosts: {a: , b: }\nlinks: [{from: a, to: b}]")
	listen := func() (*net.UDPConn, error) { return net.ListenUDP("udp4", nil) }
	out, in := on(t, l, "a", listen), on(t, l, "b", listen)
	defer out.Close()
	defer in.Close()
	a := &assembly{lab: l}
	defer a.close()
	for _, n := range l.Topology.Nodes {
		s, err := openSpace(l.Topology.Name, n)
		if err != nil {
			t.Fatal(err)
		}
		a.spaces = append(a.spaces, s)
	}
	link := l.Topology.Links[0]
	end := link.Ends[1]
	peer := &net.UDPAddr{IP: end.Addrs[0].Addr().AsSlice(), Port: in.LocalAddr().(*net.UDPAddr).Port}
	for i := range 20 {
		made, err := a.ends(link)[1].nl.LinkByName(end.Iface)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.ends(link)[1].nl.LinkDel(made); err != nil {
			t.Fatal(err)
		}
		if err := a.link(t.Context(), link); err != nil {
			t.Fatal(err)
		}
		if _, err := out.WriteTo([]byte("packet"), peer); err != nil {
			t.Fatal(err)
		}
		_ = in.SetReadDeadline(time.Now().Add(time.Second))
		if _, err := in.Read(make([]byte, 64)); err != nil {
			t.Fatalf("made %d times: %v", i+1, err)
		}
	}
}

package server

import (
	"net"
	"testing"
)

func TestTheServerSpeaksPlainTCPToAClientThatOffersMultipath(t *testing.T) {
	t.Parallel()
	s := serve(t, Config{})
	var d net.Dialer
	d.SetMultipathTCP(true)
	c, err := d.DialContext(t.Context(), "tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	// A system without Multipath TCP makes a plain connection by itself.
	if multipath, err := c.(*net.TCPConn).MultipathTCP(); multipath || err != nil {
		t.Errorf("Multipath TCP: %v, %v", multipath, err)
	}
}

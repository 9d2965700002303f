package server

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"

	"soku/internal/wire/native"
)

func readCreated(t *testing.T, c net.Conn) (created native.Created) {
	t.Helper()
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || response.StatusCode != http.StatusCreated {
		t.Fatalf("%v, %v", response, err)
	}
	if err := native.DecodeBody(response.Body, native.MaxReply, &created); err != nil {
		t.Fatal(err)
	}
	return created
}

// lossyRelay carries TCP and UDP between a client and the server at addr, and
// loses the first datagram of each type in each direction.
func lossyRelay(t *testing.T, addr string) string {
	t.Helper()
	tcp, udp, err := listen("127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	open := []io.Closer{tcp, udp}
	keep := func(c io.Closer) { mu.Lock(); open = append(open, c); mu.Unlock() }
	t.Cleanup(func() {
		mu.Lock()
		for _, c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	wg.Go(func() {
		for {
			in, err := tcp.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", addr)
			if err != nil {
				return
			}
			keep(in)
			keep(out)
			for _, pair := range [][2]net.Conn{{in, out}, {out, in}} {
				wg.Go(func() { _, _ = io.Copy(pair[0], pair[1]); _ = pair[0].Close() })
			}
		}
	})
	out, err := net.Dial("udp", addr)
	if err != nil {
		t.Fatal(err)
	}
	keep(out)
	lost := map[native.DatagramType]bool{}
	lose := func(b []byte) bool {
		d, err := native.ParseDatagram(b)
		mu.Lock()
		defer mu.Unlock()
		if err != nil || lost[d.Type] {
			return false
		}
		lost[d.Type] = true
		return true
	}
	var client net.Addr
	wg.Go(func() {
		buf := make([]byte, 2000)
		for {
			n, from, err := udp.ReadFrom(buf)
			if err != nil {
				return
			}
			mu.Lock()
			client = from
			mu.Unlock()
			if !lose(buf[:n]) {
				_, _ = out.Write(buf[:n])
			}
		}
	})
	wg.Go(func() {
		buf := make([]byte, 2000)
		for {
			n, err := out.Read(buf)
			if err != nil {
				return
			}
			mu.Lock()
			to := client
			mu.Unlock()
			if !lose(buf[:n]) && to != nil {
				_, _ = udp.WriteTo(buf[:n], to)
			}
		}
	})
	return tcp.Addr().String()
}

package freeport

import (
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"

	"soku/test/tier"
)

func TestAPortCanBeListenedOnWhileProgramsAreStarted(t *testing.T) {
	tier.SpendsSeconds(t)
	done := make(chan struct{})
	var starting sync.WaitGroup
	for range 4 {
		starting.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					_ = exec.Command("true").Run()
				}
			}
		})
	}
	defer starting.Wait()
	defer close(done)
	for range 100 {
		first := Row(t, 2)
		for port := first; port < first+2; port++ {
			l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
			if err != nil {
				t.Fatal(err)
			}
			_ = l.Close()
		}
	}
}

func TestAPortInUseIsNotFree(t *testing.T) {
	p, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	l, err := net.Listen("tcp", "[::]:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := l.Addr().(*net.TCPAddr).Port
	if free(taken, 1) || free(taken-1, 2) {
		t.Errorf("port %d is free while it is listened on", taken)
	}
	if _, err := os.Stat("/proc/net/udp"); err == nil && free(p.LocalAddr().(*net.UDPAddr).Port, 1) {
		t.Error("a port with a socket for datagrams is free")
	}
}

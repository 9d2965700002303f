//go:build linux && (amd64 || arm64) && !race && !plainloops

package latency

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"soku/internal/sock"
	"soku/test/tier"
)

// restingEcho starts an echo that rests soon after its client is silent. The test ends it.
func restingEcho(t *testing.T, flows int, spin bool, silent time.Duration) (near []net.Conn, end func()) {
	t.Helper()
	var far []net.Conn
	for range flows {
		n, f := sockets(t, "tcp")
		near, far = append(near, n), append(far, f)
	}
	o := echoOptions{Options: options("tcp"), restAfter: 50 * time.Millisecond, silent: silent}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		if flows == 1 {
			_, err := echo(ctx, far[0], o, openFor(spin))
			done <- err
			return
		}
		links, _ := openTogether(far)
		done <- echoTogether(ctx, far, links, o)
	}()
	return near, func() {
		t.Helper()
		cancelled := time.Now()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if d := time.Since(cancelled); d > 500*time.Millisecond {
			t.Errorf("it ended %v after its context", d)
		}
	}
}

// awaitRest waits until a thread of this process is in ppoll, which only a rest calls.
func awaitRest(t *testing.T) {
	t.Helper()
	call := strconv.Itoa(unix.SYS_PPOLL) + " "
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		threads, _ := filepath.Glob("/proc/self/task/*/syscall")
		for _, file := range threads {
			if text, err := os.ReadFile(file); err == nil && strings.HasPrefix(string(text), call) {
				return
			}
		}
		if time.Now().After(deadline) {
			t.Fatal("the echo does not rest")
		}
	}
}

func TestAnEchoThatRestsAnswersTheNextMessage(t *testing.T) {
	tier.SpendsSeconds(t)
	for name, c := range map[string]struct {
		flows int
		spin  bool
	}{"blocking": {1, false}, "spinning": {1, true}, "spinning on several connections": {3, true}} {
		t.Run(name, func(t *testing.T) {
			near, end := restingEcho(t, c.flows, c.spin, 0)
			b := make([]byte, options("tcp").Size)
			for _, conn := range near {
				awaitRest(t)
				_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
				if _, err := conn.Write(b); err != nil {
					t.Fatal(err)
				}
				if _, err := io.ReadFull(conn, b); err != nil {
					t.Fatal(err)
				}
			}
			awaitRest(t)
			end()
		})
	}
}

// A client that is silent for long holds no thread of the echo.
func TestAnEchoOfASilentClientParksUntilTheNextMessage(t *testing.T) {
	tier.SpendsSeconds(t)
	for _, spin := range []bool{false, true} {
		near, end := restingEcho(t, 1, spin, 60*time.Millisecond)
		b := make([]byte, options("tcp").Size)
		parked := func() {
			t.Helper()
			stacks := make([]byte, 1<<20)
			for deadline := time.Now().Add(10 * time.Second); !strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "looper).Park"); time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("the echo does not park")
				}
			}
		}
		for range 3 {
			parked()
			_ = near[0].SetDeadline(time.Now().Add(5 * time.Second))
			for range 2 { // on a thread of its own again
				if _, err := near[0].Write(b); err != nil {
					t.Fatal(err)
				}
				if _, err := io.ReadFull(near[0], b); err != nil {
					t.Fatal(err)
				}
			}
		}
		parked()
		end()
	}
}

// A client that sends and does not read takes no processor, and gets the rest of its answers
// when it reads.
func TestAnEchoThatCannotSendRestsUntilItCan(t *testing.T) {
	tier.SpendsSeconds(t)
	for name, flows := range map[string]int{"one connection": 1, "several connections": 2} {
		t.Run(name, func(t *testing.T) {
			near, end := restingEcho(t, flows, true, 0)
			conn := near[0]
			size := int(options("tcp").Size)
			written := 0
			for messages := make([]byte, 1000*size); ; {
				_ = conn.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
				n, err := conn.Write(messages)
				if written += n; err != nil {
					break
				}
			}
			awaitRest(t)
			_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
			if n, err := io.CopyN(io.Discard, conn, int64(written/size*size)); err != nil {
				t.Errorf("%d of %d bytes were answered: %v", n, written, err)
			}
			awaitRest(t)
			end()
		})
	}
}

func TestEchoesLeaveHalfOfTheProcessors(t *testing.T) {
	places := 0
	for {
		ok, leave := mayEchoSpin("on")
		if !ok {
			break
		}
		defer leave()
		places++
	}
	if want := max(1, sock.Processors/2); places != want {
		t.Errorf("%d echoes spin, want %d of %d processors", places, want, sock.Processors)
	}
	if ok, leave := maySpin("on"); !ok {
		t.Error("a client of the same process may not")
	} else {
		leave()
	}
}

package ssh_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"soku/internal/fleet/ssh"
	"soku/internal/measure"
)

func TestADestinationIsNoOption(t *testing.T) {
	for text, host := range map[string]string{
		"vm2": "vm2", "admin@vm2": "vm2", "a@b@vm2.example": "vm2.example", "ssh://admin@vm2:2222": "vm2",
		"ssh://[2001:db8::1]:22": "2001:db8::1", "admin@2001:db8::1": "2001:db8::1", `DOM\admin@vm2`: "vm2",
	} {
		if !ssh.IsDestination(text) || ssh.HostOf(text) != host {
			t.Errorf("%q: %v, host %q", text, ssh.IsDestination(text), ssh.HostOf(text))
		}
	}
	for _, text := range []string{"", "-oProxyCommand=sh", "admin@-oProxyCommand=sh", "a b", "vm2;reboot", "vm$(id)", "vm\n", "admin@", strings.Repeat("a", 256)} {
		if ssh.IsDestination(text) {
			t.Errorf("%q is a destination", text)
		}
	}
}

func TestAnotherPlatformsProgramIsInTheFolder(t *testing.T) {
	_, err := (&ssh.Binaries{Open: openFile}).For(ssh.Platform{OS: "plan9", Arch: "mips"})
	if e := measure.AsError(err, ""); e.Code != "ssh.no_binaries" || !strings.Contains(e.Hint, "soku-plan9-mips") {
		t.Errorf("error %v", err)
	}
	_, err = (&ssh.Binaries{Folder: t.TempDir(), Open: openFile}).For(ssh.Platform{OS: "plan9", Arch: "mips"})
	if e := measure.AsError(err, ""); e.Code != "ssh.no_binary" || !strings.Contains(e.Message, "soku-plan9-mips") {
		t.Errorf("error %v", err)
	}
}

// far is the host's end with the given silence, and what it writes.
func far(t *testing.T, silence time.Duration) (to io.WriteCloser, from *json.Decoder, ended <-chan error) {
	t.Helper()
	in, to := io.Pipe()
	out, write := io.Pipe()
	done := make(chan error, 1)
	e := ssh.Endpoint{Version: "test", Listen: listen, Silence: silence}
	go func() {
		defer close(done)
		err := e.Run(context.Background(), in, write)
		_ = in.Close()
		_ = write.Close()
		done <- err
	}()
	t.Cleanup(func() { _ = to.Close(); _ = out.Close(); <-done })
	return to, json.NewDecoder(out), done
}

const wish = `{"schema":"soku.endpoint/1","serve":{"ports":[7658],"token":"t"}}` + "\n"

func TestAnEndpointEndsWhenNothingIsHeard(t *testing.T) {
	for name, c := range map[string]struct {
		leave func(io.Closer)
		after time.Duration // of the last request
	}{
		"the input ends":         {func(c io.Closer) { _ = c.Close() }, 0},
		"the connection is lost": {func(io.Closer) {}, ssh.Silence},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				to, from, ended := far(t, ssh.Silence)
				_, _ = io.WriteString(to, wish)
				var ready ssh.Ready
				if err := from.Decode(&ready); err != nil || ready.Port != 7658 || ready.Version != "test" {
					t.Fatalf("%+v, %v", ready, err)
				}
				var last time.Time
				for n := range int64(3) {
					time.Sleep(ssh.Silence - time.Second)
					last = time.Now()
					_, _ = fmt.Fprintf(to, "{\"ask\":%d}\n", n)
					var answer struct {
						Answer int64 `json:"answer"`
						UnixNs int64 `json:"unix_ns"`
					}
					if err := from.Decode(&answer); err != nil || answer.Answer != n || answer.UnixNs != last.UnixNano() {
						t.Fatalf("%+v, %v", answer, err)
					}
				}
				c.leave(to)
				if err := <-ended; err != nil {
					t.Error(err)
				}
				if after := time.Since(last); after != c.after {
					t.Errorf("it ended %v after the last request, not %v", after, c.after)
				}
			})
		})
	}
}

func TestAServerThatDoesNotStartIsReported(t *testing.T) {
	to, from, ended := far(t, time.Minute)
	_, _ = io.WriteString(to, strings.Replace(wish, `"t"`, `""`, 1))
	var ready ssh.Ready
	if err := from.Decode(&ready); err != nil || ready.Error == nil || ready.Error.Message != "no token" {
		t.Errorf("%+v, %v", ready, err)
	}
	<-ended
}

func FuzzWish(f *testing.F) {
	f.Add([]byte(wish))
	f.Add([]byte(`{"schema":"soku.endpoint/1"}` + "\n" + `{"ask":1}` + "\n" + `{"ask":"x"}`))
	f.Add([]byte("\n"))
	f.Fuzz(func(_ *testing.T, input []byte) {
		e := ssh.Endpoint{Version: "test", Silence: time.Minute, Listen: func(ssh.Serve) (int, func(context.Context) error, error) {
			return 1, func(ctx context.Context) error { <-ctx.Done(); return nil }, nil
		}}
		_ = e.Run(context.Background(), strings.NewReader(string(input)), io.Discard)
	})
}

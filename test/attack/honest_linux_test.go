package attack

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// honest is a client that measures as usual. Its own address keeps it apart from the
// attackers, who are other hosts.
type honest struct {
	name  string
	takes time.Duration // for its test alone
	args  []string      // of the program; HOST, PORT and ADDRESS stand for the server's
	port  func(at *target) string
}

const honestAddress = "127.0.0.2"

var clients = []honest{
	// An amount, because a server that is short of processors begins a test of half a second late.
	{"soku", 500 * time.Millisecond, []string{"soku", "tcp", "ADDRESS", "--bind", honestAddress, "-n", "625K", "-b", "10M", "--no-save"}, (*target).own},
	// Ethr's clients begin with the next second of their server.
	{"soku --via ethr", 1500 * time.Millisecond, []string{"soku", "tcp", "ADDRESS", "--bind", honestAddress, "-t", "500ms", "-b", "10M", "--via", "ethr", "--no-save"}, (*target).ethrPort},
	{"soku udp --via ethr", 500 * time.Millisecond, []string{"soku", "udp", "ADDRESS", "--bind", honestAddress, "-t", "500ms", "-b", "1M", "--via", "ethr", "--no-save"}, (*target).ethrPort},
	{"iperf3", time.Second, iperf3Client(), (*target).iperf3Port},
}

// iperf3Client is the real one, where there is one.
func iperf3Client() []string {
	if _, err := exec.LookPath("iperf3"); err == nil {
		return []string{"iperf3", "-c", "HOST", "-p", "PORT", "-B", honestAddress, "-t", "1", "-b", "10M"}
	}
	return []string{"soku", "tcp", "ADDRESS", "--bind", honestAddress, "-t", "1s", "-b", "10M", "--via", "iperf3", "--no-save"}
}

// serveOthers has each client measure again and again for d. Each measurement must end within the
// client's own time plus within. It returns the longest excess over the client's own time.
func (at *target) serveOthers(d, within time.Duration) (worst time.Duration) {
	at.t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	end := time.Now().Add(d)
	for _, c := range clients {
		all.Go(func() {
			for first := true; first || time.Now().Before(end); first = false {
				took := at.measure(c, within)
				mu.Lock()
				worst = max(worst, took)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return worst
}

// measure runs a client and returns how much longer it took than its own time.
func (at *target) measure(c honest, within time.Duration) time.Duration {
	at.t.Helper()
	ctx, cancel := context.WithTimeout(at.t.Context(), 30*time.Second)
	defer cancel()
	address := c.port(at)
	host, port, _ := strings.Cut(address, ":")
	name := c.args[0]
	if name == "soku" {
		name = at.program
	}
	command := exec.CommandContext(ctx, name)
	places := strings.NewReplacer("HOST", host, "PORT", port, "ADDRESS", address)
	for _, arg := range c.args[1:] {
		command.Args = append(command.Args, places.Replace(arg))
	}
	command.Env = append(os.Environ(), "SOKU_DATA="+at.t.TempDir())
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	began := time.Now()
	err := command.Run()
	took := time.Since(began) - c.takes
	if err != nil || took > within {
		at.t.Errorf("%s: %v after %v on top of its own time\n%s", c.name, err, took, out.String())
	}
	return took
}

func (at *target) own() string        { return at.address }
func (at *target) ethrPort() string   { return at.ethr }
func (at *target) iperf3Port() string { return at.iperf3 }

// number is a word of the server's file in /proc.
func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

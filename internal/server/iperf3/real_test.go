package iperf3

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/server"
	wire "soku/internal/wire/iperf3"
	"soku/test/tier"
)

// realIperf3 is the installed iperf3.
func realIperf3(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("iperf3")
	if err != nil {
		t.Skip("iperf3 is not installed: test/peers installs it")
	}
	return path
}

// iperf3JSON is what is looked at of a real client's document.
type iperf3JSON struct {
	Error string `json:"error"`
	End   struct {
		Streams []struct {
			Sender   *iperf3Side `json:"sender"`
			Receiver *iperf3Side `json:"receiver"`
			UDP      *iperf3Side `json:"udp"`
		} `json:"streams"`
		SumSent     iperf3Side `json:"sum_sent"`
		SumReceived iperf3Side `json:"sum_received"`
		SumBidir    iperf3Side `json:"sum_received_bidir_reverse"`
		CPU         struct {
			Remote float64 `json:"remote_total"`
		} `json:"cpu_utilization_percent"`
		Congestion string `json:"receiver_tcp_congestion"`
	} `json:"end"`
}

type iperf3Side struct {
	Bytes   int64   `json:"bytes"`
	Seconds float64 `json:"seconds"`
	Bps     float64 `json:"bits_per_second"`
	Lost    int64   `json:"lost_packets"`
	Packets int64   `json:"packets"`
	Sender  bool    `json:"sender"`
}

// run measures with a real client and returns its document.
func runIperf3(t *testing.T, host, port string, args ...string) iperf3JSON {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, realIperf3(t), append([]string{"-c", host, "-p", port, "-J"}, args...)...)
	var out, warnings bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &warnings
	_ = cmd.Run() // what went wrong is in the document
	var doc iperf3JSON
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatalf("iperf3 %s: %v\n%s%s", strings.Join(args, " "), err, out.String(), warnings.String())
	}
	return doc
}

// ownPort is the port that a server has for iperf3 alone.
func (s *running) ownPort() string {
	at, ok := s.ForeignAddr(option.ViaIperf3)
	if !ok {
		s.t.Fatal("no port for iperf3")
	}
	return strconv.Itoa(int(at.Port()))
}

func TestRealIperf3ClientsAreServedInEveryMode(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	realIperf3(t)
	s := serve(t, server.Config{}, Config{})
	ports := []string{s.ownPort(), s.Port()} // in turn
	for i, c := range []struct {
		name    string
		args    []string
		streams int
	}{
		{"tcp", []string{"-t", "1"}, 1},
		{"tcp reverse", []string{"-t", "1", "-R"}, 1},
		{"tcp both ways, parallel", []string{"-t", "1", "--bidir", "-P", "3"}, 6},
		{"tcp, 128 streams", []string{"-t", "1", "-P", "128", "-b", "1M"}, 128},
		{"tcp, bytes", []string{"-n", "10M"}, 1},
		{"tcp, blocks reverse", []string{"-k", "50", "-R"}, 1},
		{"tcp, omitted start", []string{"-t", "1", "-O", "1"}, 1},
		{"tcp, options", []string{"-t", "1", "-l", "10K", "-w", "64K", "-M", "1000", "-N", "-S", "0x20", "-C", "cubic"}, 1},
		{"tcp, zero copy from the server, rate", []string{"-t", "1", "-R", "-Z", "-b", "100M/10"}, 1},
		{"udp", []string{"-u", "-t", "1", "-b", "10M"}, 1},
		{"udp, 64 bits, parallel", []string{"-u", "-t", "1", "-b", "2M", "-P", "4", "--udp-counters-64bit"}, 4},
		{"udp reverse", []string{"-u", "-t", "1", "-b", "10M", "-R"}, 1},
		{"udp both ways, omitted start", []string{"-u", "-t", "1", "-O", "1", "-b", "5M", "--bidir", "-P", "2"}, 4},
		{"udp, small datagrams", []string{"-u", "-t", "1", "-b", "1M", "-l", "16"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			doc := runIperf3(t, "127.0.0.1", ports[i%2], c.args...)
			if doc.Error != "" {
				t.Fatalf("%s\n%s", doc.Error, s.Logs())
			}
			if len(doc.End.Streams) != c.streams {
				t.Errorf("%d streams, want %d", len(doc.End.Streams), c.streams)
			}
			for i, stream := range doc.End.Streams {
				side := stream.Receiver
				if side == nil {
					side = stream.UDP
				}
				if side == nil || side.Bytes == 0 || side.Seconds == 0 {
					t.Errorf("stream %d: nothing received: %+v", i, side)
				}
			}
		})
	}
}

func TestIperf3DatagramsAreSeparatedWithoutTheKernel(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	s := serve(t, server.Config{Portable: true}, Config{})
	for _, port := range []string{s.ownPort(), s.Port()} {
		doc := runIperf3(t, "127.0.0.1", port, "-u", "-t", "1", "-b", "2M", "-P", "2", "--bidir")
		if doc.Error != "" || len(doc.End.Streams) != 4 {
			t.Errorf("%q, %d streams\n%s", doc.Error, len(doc.End.Streams), s.Logs())
		}
		for i, stream := range doc.End.Streams {
			if stream.UDP == nil || stream.UDP.Packets == 0 || stream.UDP.Lost > stream.UDP.Packets/10 {
				t.Errorf("stream %d: %+v", i, stream.UDP)
			}
		}
	}
	s.Idle()
}

func TestBothEndsOfAnIperf3TestCountTheSame(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	s := serve(t, server.Config{}, Config{})
	for range 3 {
		doc := runIperf3(t, "127.0.0.1", s.Port(), "-n", "20M", "-P", "2")
		if doc.Error != "" || doc.End.SumSent.Bytes != doc.End.SumReceived.Bytes || doc.End.SumSent.Bytes < 20<<20 {
			t.Errorf("%s: sent %d, received %d", doc.Error, doc.End.SumSent.Bytes, doc.End.SumReceived.Bytes)
		}
		if doc.End.CPU.Remote <= 0 || doc.End.Congestion == "" {
			t.Errorf("the server reported neither its cost nor its congestion control: %+v", doc.End)
		}
	}
	doc := runIperf3(t, "127.0.0.1", s.Port(), "-u", "-n", "1M", "-b", "20M")
	if s := doc.End.SumReceived; s.Seconds > 0 && s.Seconds > 1.15*doc.End.SumSent.Seconds+0.1 {
		t.Errorf("the server's time is %.3f s of %.3f", s.Seconds, doc.End.SumSent.Seconds)
	}
	if doc.End.Streams[0].UDP.Lost != 0 || doc.End.Streams[0].UDP.Packets == 0 {
		t.Errorf("loss on loopback: %+v", doc.End.Streams[0].UDP)
	}
}

func TestManyIperf3ClientsAreServedAtOnce(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	s := serve(t, server.Config{}, Config{})
	var wg sync.WaitGroup
	for i := range 6 {
		args := []string{"-t", "1", "-b", "5M", "-P", "2"}
		if i%2 == 1 {
			args = append(args, "-u")
		}
		wg.Go(func() {
			if doc := runIperf3(t, "127.0.0.1", s.Port(), args...); doc.Error != "" || len(doc.End.Streams) != 2 || doc.End.SumSent.Bps > 40e6 {
				t.Errorf("%v: %s, %d streams, %.0f bit/s", args, doc.Error, len(doc.End.Streams), doc.End.SumSent.Bps)
			}
		})
	}
	wg.Wait()
	s.Idle()
}

func TestAnExclusiveServerQueuesIperf3ClientsAndRefusesTheRest(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	realIperf3(t)
	s := serve(t, server.Config{Exclusive: true, MaxClients: 1}, Config{})
	first := make(chan iperf3JSON, 2)
	for range 2 {
		go func() { first <- runIperf3(t, "127.0.0.1", s.Port(), "-t", "1", "-b", "1M") }()
	}
	s.Waiting(1)
	if doc := runIperf3(t, "127.0.0.1", s.Port(), "-t", "1"); !strings.Contains(doc.Error, "busy") {
		t.Errorf("the third: %q", doc.Error)
	}
	for range 2 {
		if doc := <-first; doc.Error != "" || doc.End.SumReceived.Bytes == 0 {
			t.Errorf("%s, %d bytes", doc.Error, doc.End.SumReceived.Bytes)
		}
	}
	s.Idle()
}

func TestTheLimitsOfTheServerReachIperf3ClientsAsItsOwnWould(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	for _, c := range []struct {
		cfg  server.Config
		args []string
		want string
	}{
		{server.Config{MaxDuration: measure.Duration(5 * time.Second)}, []string{"-t", "6"}, "duration"},
		{server.Config{MaxDuration: measure.Duration(5 * time.Second)}, []string{"-n", "1M"}, "duration"},
		{server.Config{MaxRate: 10_000_000}, []string{"-t", "1", "-b", "6M", "-P", "2"}, "bandwidth"},
		{server.Config{MaxRate: 10_000_000}, []string{"-t", "20"}, "bandwidth"},
		{server.Config{MaxRate: 10_000_000}, []string{"-t", "1", "-b", "4M", "-P", "2"}, ""},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			t.Parallel()
			s := serve(t, c.cfg, Config{})
			doc := runIperf3(t, "127.0.0.1", s.Port(), c.args...)
			// Versions that do not have words for a number show the number.
			if (doc.Error == "") != (c.want == "") || !strings.Contains(doc.Error, c.want) && !strings.Contains(doc.Error, "37") {
				t.Errorf("%q, want %q\n%s", doc.Error, c.want, s.Logs())
			}
			s.Idle()
		})
	}
}

func TestIperf3ClientsProveTheirUser(t *testing.T) {
	realIperf3(t)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	public, _ := x509.MarshalPKIXPublicKey(&key.PublicKey)
	file := filepath.Join(t.TempDir(), "public.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}), 0o600); err != nil {
		t.Fatal(err)
	}
	// 3.12 pads by PKCS #1 v1.5 alone.
	guard := &wire.Guard{Key: key, Users: wire.Users{"mario": wire.HashPassword("mario", "rossi")}, PKCS1: !hasOAEP(t)}
	s := serve(t, server.Config{Access: server.WithToken("a token that iperf3 does not know")}, Config{Users: guard})
	for password, allowed := range map[string]bool{"rossi": true, "bianchi": false} {
		t.Setenv("IPERF3_PASSWORD", password)
		doc := runIperf3(t, "127.0.0.1", s.Port(), "-n", "1M", "--username", "mario", "--rsa-public-key-path", file)
		if (doc.Error == "") != allowed || !allowed && !strings.Contains(doc.Error, "authorization") {
			t.Errorf("%s: %q\n%s", password, doc.Error, s.Logs())
		}
	}
	if doc := runIperf3(t, "127.0.0.1", s.Port(), "-n", "1M"); !strings.Contains(doc.Error, "authorization") {
		t.Errorf("without a user: %q", doc.Error)
	}
}

// hasOAEP reports whether the installed iperf3 pads by OAEP, as versions from 3.17 on do.
func hasOAEP(t *testing.T) bool {
	out, _ := exec.CommandContext(t.Context(), realIperf3(t), "-h").CombinedOutput()
	return bytes.Contains(out, []byte("pkcs1"))
}

func TestAServerWithATokenDoesNotLetIperf3ClientsIn(t *testing.T) {
	s := serve(t, server.Config{Access: server.WithToken("secret")}, Config{})
	if doc := runIperf3(t, "127.0.0.1", s.Port(), "-n", "1M"); doc.Error == "" {
		t.Error("a client without the token was served")
	}
}

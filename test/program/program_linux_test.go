package program

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/test/built"
	"soku/test/tier"
)

// narrow are the processors of a process's threads that are pinned to one.
func narrow(pid int) (cpus []int) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	for _, task := range tasks {
		status, _ := os.ReadFile(task) // a thread may end meanwhile
		for _, line := range strings.Split(string(status), "\n") {
			if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
				if cpu, err := strconv.Atoi(strings.TrimSpace(list)); err == nil {
					cpus = append(cpus, cpu)
				}
			}
		}
	}
	return cpus
}

func TestPinnedLoopsRunOnTheProcessorsInTheResult(t *testing.T) {
	tier.SpendsSeconds(t)
	var mask unix.CPUSet
	if err := unix.SchedGetaffinity(0, &mask); err != nil || mask.Count() < 2 || !mask.IsSet(0) || !mask.IsSet(1) {
		t.Skip("needs processors 0 and 1")
	}
	soku := built.Program(t)
	at, server := serving(t, soku)
	for name, args := range map[string][]string{
		"tcp":               {"tcp", "-P", "3"},
		"tcp at a rate":     {"tcp", "-P", "2", "-b", "20M", "--rx", "read"},
		"udp":               {"udp", "-P", "2", "-b", "20M"},
		"udp one a call":    {"udp", "-b", "20M", "--tx", "write", "--rx", "read"},
		"latency":           {"latency", "--spin=off"},
		"latency in turn":   {"latency", "-P", "4", "--protocol", "udp"},
		"latency at a rate": {"latency", "--request-rate", "500"},
		"connect":           {"connect", "--close", "rst"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "result.json")
			c := exec.Command(soku, append(args, at, "--duration", "400ms", "--pin=0/1", "-o", file)...)
			c.Env = append(os.Environ(), "SOKU_DATA="+t.TempDir())
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- c.Wait() }()
			var here, there []int // the maximum seen at one time
			for running := true; running; {
				select {
				case err := <-ended:
					if err != nil {
						t.Fatal(err)
					}
					running = false
				case <-time.After(2 * time.Millisecond):
				}
				if got := narrow(c.Process.Pid); len(got) > len(here) {
					here = got
				}
				if got := narrow(server.Pid); len(got) > len(there) {
					there = got
				}
			}
			var r measure.Result
			if b, err := os.ReadFile(file); err != nil || json.Unmarshal(b, &r) != nil || r.Error != nil {
				t.Fatalf("%v, %v in %s", err, r.Error, b)
			}
			for _, end := range []struct {
				name     string
				seen     []int
				reported []int
				cpu      int
			}{{"client", here, r.Hosts.Client.PinnedCPUs, 0}, {"server", there, r.Hosts.Server.PinnedCPUs, 1}} {
				if len(end.reported) == 0 || slices.ContainsFunc(end.reported, func(n int) bool { return n != end.cpu }) {
					t.Errorf("the result says that the %s's loops were on %v, want %d", end.name, end.reported, end.cpu)
				}
				if len(end.seen) != len(end.reported) || slices.ContainsFunc(end.seen, func(n int) bool { return n != end.cpu }) {
					t.Errorf("threads of the %s were on %v, the result says %v", end.name, end.seen, end.reported)
				}
			}
			if left := narrow(server.Pid); len(left) > 0 {
				t.Errorf("afterwards threads of the server are still on %v", left)
			}
			if len(r.Findings.With(finding.NotPinned)) > 0 {
				t.Errorf("findings %+v", r.Findings)
			}
		})
	}
	for _, pin := range []string{"1023", "0/1023"} {
		out, err := client(t, soku, "tcp", at, "--pin="+pin, "--json")
		var r measure.Result
		const usage = 2 // docs/reference/exit-codes.md
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != usage || json.Unmarshal(out, &r) != nil || r.Error == nil || !strings.Contains(r.Error.Message, "may not use processor 1023") {
			t.Errorf("--pin=%s: %v, %s", pin, err, out)
		}
	}
}

func TestAThousandStreamsAreEachMeasuredInBoundedMemory(t *testing.T) {
	tier.SpendsSeconds(t)
	var files unix.Rlimit
	const streams = 1024
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil || files.Max < streams+200 {
		t.Skipf("a limit of %d open files, %v", files.Max, err)
	}
	soku := built.Program(t)
	at := serve(t, soku)
	for _, args := range [][]string{{"tcp", "-C", "cubic"}, {"udp", "-b", "100M", "-s", "500"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			out, err := client(t, soku, append(args, at, "-P", strconv.Itoa(streams), "--duration", "1s", "-i", "100ms", "--json")...)
			var r measure.Result
			if err != nil || json.Unmarshal(out, &r) != nil || r.Error != nil {
				t.Fatalf("%v, %v", err, r.Error)
			}
			f := r.Summary.Fairness
			if f == nil || f.JainIndex <= 0 || f.JainIndex > 1 || f.MinBps > f.MedianBps || f.MedianBps > f.MaxBps || f.MaxBps == 0 {
				t.Errorf("fairness %+v", f)
			}
			if n := len(r.Flows[0].Streams); n != streams {
				t.Fatalf("%d streams in the result", n)
			}
			const mostSamples = 21 // per stream with this number of streams, including one in progress
			for _, s := range r.Flows[0].Streams {
				if len(s.Samples) > mostSamples {
					t.Errorf("stream %d has %d samples", s.Index, len(s.Samples))
				}
			}
			// 1024 streams of 20 samples, half a KiB each with TCP_INFO.
			if len(out) > 24<<20 {
				t.Errorf("a result of %d bytes", len(out))
			}
		})
	}
}

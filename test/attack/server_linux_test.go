package attack

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/wire/native"
	"soku/test/built"
)

// target is a server process.
type target struct {
	t                     *testing.T
	program               string
	address, iperf3, ethr string // 127.0.0.1 and a port
	rate                  measure.Rate
	fewDescriptors        bool // it refuses sessions that it cannot hold
	pid                   int
	log                   string // file
}

func TestMain(m *testing.M) { built.Main(m) }

var listening = regexp.MustCompile(`listening on (\S+) .*iperf3 on ([^,;\s]+), ethr on ([^,;\s]+)`)

// serve starts the server that is attacked.
func serve(t *testing.T, a attack) *target {
	t.Helper()
	at := &target{t: t, program: built.Program(t), rate: a.rate, fewDescriptors: a.descriptors > 0, log: filepath.Join(t.TempDir(), "log")}
	log, err := os.Create(at.log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	limit := ""
	if a.descriptors > 0 {
		limit = fmt.Sprintf("ulimit -n %d; ", a.descriptors)
	}
	args := a.args
	if a.rate > 0 {
		args = append(args[:len(args):len(args)], fmt.Sprintf("--max-rate=%d", int64(a.rate)))
	}
	command := exec.Command("sh", append([]string{
		"-c", limit + `exec "$0" server --listen 127.0.0.1:0 --iperf3 127.0.0.1:0 --ethr 127.0.0.1:0 "$@"`, at.program,
	}, args...)...)
	command.Stderr = log
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	at.pid = command.Process.Pid
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	found := listening.FindStringSubmatch(line)
	if err != nil || found == nil {
		text, _ := os.ReadFile(at.log)
		t.Fatalf("%q, %v, %s", line, err, text)
	}
	at.address, at.iperf3, at.ethr = found[1], found[2], found[3]
	at.queue() // which has the server read the facts of its host
	return at
}

// descriptors is how many the server has open.
func (at *target) descriptors() int {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", at.pid))
	if err != nil {
		at.t.Fatal(err)
	}
	return len(entries)
}

// peakMemory returns the server's largest resident memory so far in bytes.
func (at *target) peakMemory() int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", at.pid))
	if err != nil {
		at.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "VmHWM:" {
			return number(words[1]) << 10
		}
	}
	at.t.Fatal("no VmHWM")
	return 0
}

// ticks is what the server used of the processors so far, in hundredths of a second (USER_HZ).
func (at *target) ticks() int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", at.pid))
	if err != nil {
		at.t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(after)     // from the third of proc_pid_stat(5)
	const utime, stime = 14 - 3, 15 - 3 // without children
	return number(fields[utime]) + number(fields[stime])
}

// getQuiet waits until the server uses at most that many processors for a while.
func (at *target) getQuiet(most float64) {
	at.t.Helper()
	const window = 500 * time.Millisecond
	for deadline := time.Now().Add(quietWithin); ; {
		began, before := time.Now(), at.ticks()
		time.Sleep(window)
		used := float64(at.ticks()-before) / 100 / time.Since(began).Seconds()
		if used <= most {
			at.t.Logf("%.2f processors", used)
			return
		}
		if time.Now().After(deadline) {
			at.t.Errorf("the server uses %.2f processors for the attack, want %.2f at most", used, most)
			return
		}
	}
}

// logged is the size of the log, bytes.
func (at *target) logged() int64 {
	info, err := os.Stat(at.log)
	if err != nil {
		at.t.Fatal(err)
	}
	return info.Size()
}

// queue is who measures and waits, as the server reports.
func (at *target) queue() (q native.Queue) {
	client := http.Client{Timeout: freedWithin}
	r, err := http.NewRequestWithContext(at.t.Context(), http.MethodGet, "http://"+at.address+native.QueuePath, nil)
	if err != nil {
		at.t.Fatal(err)
	}
	r.Close = true
	answer, err := client.Do(r)
	if err != nil {
		at.t.Errorf("the queue: %v", err)
		return q
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(&q); err != nil {
		at.t.Errorf("the queue: %v", err)
	}
	return q
}

// freed reports whether nothing of an attack is left: no place is taken, and no descriptors are
// open except the idle ones and those that this check of the server uses.
func (at *target) freed(idle int) bool {
	const ofALook = 8
	if at.descriptors() > idle+ofALook {
		return false
	}
	q := at.queue()
	return len(q.Running)+len(q.Waiting) == 0
}

// sleep waits, and returns false when the attack is to end.
func sleep(done <-chan struct{}, d time.Duration) bool {
	select {
	case <-done:
		return false
	case <-time.After(d):
		return true
	}
}

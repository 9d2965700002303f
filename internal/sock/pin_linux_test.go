package sock

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
	"soku/internal/measure/option"
)

// allowedOf is the list of processors of a thread of this process, as the kernel has it.
func allowedOf(t *testing.T, thread string) string {
	t.Helper()
	status, err := os.ReadFile("/proc/self/task/" + thread + "/status")
	if err != nil {
		t.Skipf("a thread that has ended: %v", err)
	}
	for _, line := range strings.Split(string(status), "\n") {
		if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
			return strings.TrimSpace(list)
		}
	}
	t.Fatal("no Cpus_allowed_list")
	return ""
}

// apart runs f on a thread of its own, which ends with it.
func apart(f func()) {
	var wg sync.WaitGroup
	wg.Go(func() { runtime.LockOSThread(); f() })
	wg.Wait()
}

func pinsFor(t *testing.T, text string) *Pins {
	t.Helper()
	client, _, err := option.ParsePin(text)
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPins(client)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAPinnedLoopIsOnItsProcessorAndFreeAfterwards(t *testing.T) {
	allowed, err := allowedCPUs()
	if err != nil {
		t.Fatal(err)
	}
	for _, cpu := range allowed {
		apart(func() {
			me := fmt.Sprint(unix.Gettid())
			before := allowedOf(t, me)
			p := pinsFor(t, fmt.Sprint(cpu))
			release := p.Keep(measure.Sender)
			if now := fmt.Sprint(unix.Gettid()); now != me {
				t.Errorf("moved from thread %s to %s", me, now)
			}
			if got := allowedOf(t, me); got != fmt.Sprint(cpu) {
				t.Errorf("pinned to %d, allowed %s", cpu, got)
			}
			release()
			if got := allowedOf(t, me); got != before {
				t.Errorf("after the release allowed %s, before %s", got, before)
			}
			if got := p.Pinned(); !slices.Equal(got, []int{cpu}) || p.Err() != nil {
				t.Errorf("kept %v, %v", got, p.Err())
			}
		})
	}
}

func TestThreadsThatBeginMeanwhileAreNotPinned(t *testing.T) {
	allowed, _ := allowedCPUs()
	if len(allowed) < 2 {
		t.Skip("one processor: all threads are on it")
	}
	whole := option.FormatCPUs(allowed)
	apart(func() {
		defer pinsFor(t, "auto").Keep(measure.Sender)()
		me := fmt.Sprint(unix.Gettid())
		// Goroutines that block in the kernel make the runtime start threads.
		var r, w [32]int
		var blocked, ended sync.WaitGroup
		for i := range r {
			var pipe [2]int
			if err := unix.Pipe(pipe[:]); err != nil {
				t.Error(err)
				return
			}
			r[i], w[i] = pipe[0], pipe[1]
			blocked.Add(1)
			ended.Go(func() {
				runtime.LockOSThread()
				blocked.Done()
				_, _ = unix.Read(r[i], make([]byte, 1))
			})
		}
		blocked.Wait()
		tasks, err := filepath.Glob("/proc/self/task/*")
		if err != nil || len(tasks) < len(r) {
			t.Errorf("%d threads, %v", len(tasks), err)
		}
		for _, task := range tasks {
			if thread := filepath.Base(task); thread != me && allowedOf(t, thread) != whole {
				t.Errorf("thread %s may use %s, want %s", thread, allowedOf(t, thread), whole)
			}
		}
		for i := range r {
			_ = unix.Close(w[i])
		}
		ended.Wait()
		for i := range r {
			_ = unix.Close(r[i])
		}
	})
}

func TestSendersArePinnedFromTheFirstProcessorAndReceiversFromTheLast(t *testing.T) {
	p := &Pins{cpus: []int{2, 5, 7}}
	var got []int
	for _, role := range []measure.Role{measure.Sender, measure.Receiver, measure.Sender, measure.Receiver, measure.Sender, measure.Sender} {
		got = append(got, p.next(role))
	}
	if want := []int{2, 7, 5, 5, 7, 2}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestAProcessorOutsideOfTheMaskIsAUsageError(t *testing.T) {
	client, _, _ := option.ParsePin("1023")
	if _, err := NewPins(client); measure.KindOf(err) != measure.KindUsage || !strings.Contains(err.Error(), "processor 1023") {
		t.Errorf("%v", err)
	}
}

func TestAPinThatTheSystemRefusesIsReported(t *testing.T) {
	apart(func() {
		p := &Pins{cpus: []int{1023}} // went away since it was checked
		p.Keep(measure.Sender)()
		if measure.KindOf(p.Err()) != measure.KindPermission || len(p.Pinned()) != 0 {
			t.Errorf("%v, kept %v", p.Err(), p.Pinned())
		}
	})
}

func TestNilPinsPinNothing(t *testing.T) {
	p, err := NewPins(option.Pinning{})
	if p != nil || err != nil {
		t.Fatal(p, err)
	}
	p.Keep(measure.Sender)()
	if p.Pinned() != nil || p.Err() != nil {
		t.Error("something was kept")
	}
}

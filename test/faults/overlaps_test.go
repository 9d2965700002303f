package faults

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// overlaps counts the processes of trials that run simultaneously at all agents: each trial has one, at its client.
type overlaps struct {
	stop, ended chan struct{}
	most        int
}

func count(t *testing.T, agents []*program) *overlaps {
	o := &overlaps{stop: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(o.ended)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			n := 0
			for _, a := range agents {
				n += trialsOf(a.pid())
			}
			o.most = max(o.most, n)
			select {
			case <-tick.C:
			case <-o.stop:
				return
			}
		}
	}()
	t.Cleanup(func() { o.end() })
	return o
}

// trialsOf is how many children of a process run a trial.
func trialsOf(pid int) (n int) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, f := range files {
		children, _ := os.ReadFile(f)
		for _, child := range strings.Fields(string(children)) {
			words, _ := os.ReadFile("/proc/" + child + "/cmdline")
			if bytes.HasSuffix(bytes.TrimRight(words, "\x00"), []byte("\x00trial")) {
				n++
			}
		}
	}
	return n
}

// end returns the most that ran simultaneously.
func (o *overlaps) end() int {
	select {
	case <-o.stop:
	default:
		close(o.stop)
	}
	<-o.ended
	return o.most
}

package scale_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Fields of proc_pid_stat(5) after the name of the program; state is field 0.
const (
	userTicks     = 11
	systemTicks   = 12
	endedUser     = 13 // of children that have ended
	endedSystem   = 14
	residentPages = 21

	tick = 10 * time.Millisecond // on all platforms of Go
)

// processor is the time of processors that a process and its threads have used.
func processor(t testing.TB, pid int) time.Duration {
	t.Helper()
	return time.Duration(stat(t, pid, userTicks)+stat(t, pid, systemTicks)) * tick
}

// family is the time of processors that a process and its children have used, those that have ended among them.
func family(t testing.TB, pid int) time.Duration {
	t.Helper()
	all := processor(t, pid) + time.Duration(stat(t, pid, endedUser)+stat(t, pid, endedSystem))*tick
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, child := range strings.Fields(string(text)) {
		if id, err := strconv.Atoi(child); err == nil {
			all += processor(t, id)
		}
	}
	return all
}

// stat is a field of a process.
func stat(t testing.TB, pid, field int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	n, err := strconv.ParseInt(strings.Fields(rest)[field], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

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
		id, _ := strconv.Atoi(child)
		for _, field := range []int{userTicks, systemTicks} {
			if n, err := readStat(id, field); err == nil { // it may have ended since
				all += time.Duration(n) * tick
			}
		}
	}
	return all
}

// stat is a field of a process.
func stat(t testing.TB, pid, field int) int64 {
	t.Helper()
	n, err := readStat(pid, field)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func readStat(pid, field int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return strconv.ParseInt(strings.Fields(rest)[field], 10, 64)
}

package program

import (
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// initialization is a line of the runtime's report on what packages do before main.
var initialization = regexp.MustCompile(`^init (\S+) @.* clock, (\d+) bytes, (\d+) allocs$`)

// What packages may do before main, which every start waits for. A regular
// expression that is compiled there, a table that is filled, a template that is
// parsed goes beyond it: do it when it is first needed.
const (
	ownAllocs, ownBytes     = 230, 20 << 10 // a package of this project; the table of options has most
	otherAllocs, otherBytes = 500, 32 << 10 // another
	allAllocs, allBytes     = 1900, 180 << 10
)

func TestPackagesDoLittleBeforeMain(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the packages differ by system; the figures are those of Linux on amd64")
	}
	c := exec.Command(program(t), "--version")
	c.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var report strings.Builder
	c.Stderr = &report
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	packages, allocs, bytes := 0, 0, 0
	for line := range strings.Lines(report.String()) {
		m := initialization.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		b, _ := strconv.Atoi(m[2])
		n, _ := strconv.Atoi(m[3])
		packages, allocs, bytes = packages+1, allocs+n, bytes+b
		mostAllocs, mostBytes := otherAllocs, otherBytes
		if strings.HasPrefix(m[1], "soku/") {
			mostAllocs, mostBytes = ownAllocs, ownBytes
		}
		if n > mostAllocs || b > mostBytes {
			t.Errorf("%s allocates %d times, %d bytes", m[1], n, b)
		}
	}
	if packages < 20 {
		t.Fatalf("only %d packages in the report:\n%s", packages, report.String())
	}
	if allocs > allAllocs || bytes > allBytes {
		t.Errorf("all %d packages allocate %d times, %d bytes", packages, allocs, bytes)
	}
	t.Logf("%d packages allocate %d times, %d bytes", packages, allocs, bytes)
}

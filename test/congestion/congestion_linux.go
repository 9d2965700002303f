package congestion

import (
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"soku/test/tier"
)

const folder = "/proc/sys/net/ipv4/"

const allowedFile = folder + "tcp_allowed_congestion_control"

// Allow lets network namespaces use each of names as their default until the test ends. The
// kernel loads modules. The test is skipped if the kernel does not have one of them, or if
// this process may not change the list: it must be root in the machine's initial network
// namespace.
func Allow(t *testing.T, names ...string) {
	t.Helper()
	needRights(t)
	for _, name := range names {
		if err := load(name); err != nil {
			t.Skipf("this kernel has no congestion control %s: %v", name, err)
		}
	}
	change(t, func(allowed []string) []string {
		return append(allowed, slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(allowed, n) })...)
	})
}

// Forbid removes name from the list of defaults that network namespaces may use, until the
// test ends. It skips as [Allow] does.
func Forbid(t *testing.T, name string) {
	t.Helper()
	needRights(t)
	if err := load(name); err != nil {
		t.Skipf("this kernel has no congestion control %s: %v", name, err)
	}
	change(t, func(allowed []string) []string {
		return slices.DeleteFunc(allowed, func(n string) bool { return n == name })
	})
}

// Allowed is the present list.
func Allowed(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(allowedFile)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}

func needRights(t *testing.T) {
	t.Helper()
	tier.NeedsRoot(t, "changes of what the machine allows")
	if err := unix.Access(allowedFile, unix.W_OK); err != nil {
		t.Skipf("%s: %v; it is writable in the first network namespace of the machine only", allowedFile, err)
	}
}

// change writes the list that edit returns, and the old one when the test ends. Another
// process that wants to change it waits until then.
func change(t *testing.T, edit func(allowed []string) []string) {
	t.Helper()
	f, err := os.OpenFile(allowedFile, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	before := Allowed(t)
	write := func(list []string) {
		if err := os.WriteFile(allowedFile, []byte(strings.Join(list, " ")), 0); err != nil {
			t.Errorf("allow the congestion controls %v: %v", list, err)
		}
	}
	t.Cleanup(func() { write(before) }) // runs before the lock is released
	write(edit(slices.Clone(before)))
}

// load has the kernel load the module of a congestion control.
func load(name string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	return unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, name)
}

package lab

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"soku/internal/measure"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
)

// netnsDir is where ip-netns(8) keeps named namespaces.
const netnsDir = "/run/netns"

func namespacePath(name string) string { return filepath.Join(netnsDir, name) }

// inThread runs f on a locked thread and then restores the thread's network namespace. A
// thread that cannot be restored is never used again.
func inThread(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		home, err := netns.Get()
		if err != nil {
			runtime.UnlockOSThread()
			done <- fail("lab.namespace.current", measure.Figures{"cause": err})
			return
		}
		err = f()
		if back := netns.Set(home); back == nil {
			// Ending the thread instead would kill processes it started that
			// asked to die with their parent.
			runtime.UnlockOSThread()
		}
		home.Close()
		done <- err
	}()
	return <-done
}

// inside runs f in the named namespace. f must not start goroutines that depend on it.
func inside(name string, f func() error) error {
	return inThread(func() error {
		ns, err := netns.GetFromPath(namespacePath(name))
		if err != nil {
			return fail("lab.namespace.open", measure.Figures{"namespace": name, "cause": err})
		}
		defer ns.Close()
		if err := netns.Set(ns); err != nil {
			return fail("lab.namespace.enter", measure.Figures{"namespace": name, "cause": err})
		}
		return f()
	})
}

func createNamespace(name string) error {
	return inThread(func() error {
		if err := os.MkdirAll(netnsDir, 0o755); err != nil {
			return err
		}
		file, err := os.OpenFile(namespacePath(name), os.O_CREATE|os.O_EXCL|os.O_RDONLY, 0o444)
		if err != nil {
			return err
		}
		file.Close()
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			_ = os.Remove(namespacePath(name))
			return fail("lab.namespace.create", measure.Figures{"cause": err})
		}
		if err := unix.Mount("/proc/thread-self/ns/net", namespacePath(name), "bind", unix.MS_BIND, ""); err != nil {
			_ = os.Remove(namespacePath(name))
			return fail("lab.namespace.name", measure.Figures{"cause": err})
		}
		return nil
	})
}

// removeNamespace deletes the content of a namespace and its name. The devices are
// deleted one by one, because the kernel frees a namespace later, and not at all while a
// process remains in it. A missing namespace is not an error.
func removeNamespace(name string) error {
	path := namespacePath(name)
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if ns, err := netns.GetFromPath(path); err == nil {
		// When the crash came between making the file and the mount, this is no namespace.
		if h, err := netlink.NewHandleAt(ns, unix.NETLINK_ROUTE); err == nil {
			deleteLinks(h)
			h.Close()
		}
		ns.Close()
	}
	if err := unix.Unmount(path, unix.MNT_DETACH); err != nil && !errors.Is(err, unix.EINVAL) {
		return fail("lab.namespace.remove", measure.Figures{"namespace": name, "cause": err})
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fail("lab.namespace.remove", measure.Figures{"namespace": name, "cause": err})
	}
	return nil
}

func deleteLinks(h *netlink.Handle) {
	links, err := h.LinkList()
	if err != nil {
		return
	}
	for _, l := range links {
		if kind := l.Type(); kind == "veth" || kind == "tuntap" || kind == "tun" {
			_ = h.LinkDel(l) // gone with its peer already, or with the namespace soon
		}
	}
}

// namespacesOf returns the names of the existing namespaces of a lab.
func namespacesOf(lab string) ([]string, error) {
	entries, err := os.ReadDir(netnsDir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), namespacePrefix(lab)) {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

// controller is the block controller of control groups (cgroups(7)). A host with a slow disk
// has one group, named as its namespace. Version 1 limits reads and direct writes, version 2
// also what the kernel writes back from the page cache.
type controller struct {
	root    string // where it is mounted
	version int
}

// findController returns the block controller of this machine, or false if there is none.
func findController() (controller, bool) {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return controller{}, false
	}
	return controllerIn(string(mounts))
}

// controllerIn is findController for the lines of /proc/PID/mounts. Version 1 takes precedence:
// where it has the controller, version 2 has not.
func controllerIn(mounts string) (c controller, ok bool) {
	for line := range strings.Lines(mounts) {
		f := strings.Fields(line)
		if len(f) < 4 {
			continue
		}
		switch f[2] {
		case "cgroup":
			if slices.Contains(strings.Split(f[3], ","), "blkio") {
				return controller{f[1], 1}, true
			}
		case "cgroup2":
			if has, _ := os.ReadFile(filepath.Join(f[1], "cgroup.controllers")); slices.Contains(strings.Fields(string(has)), "io") {
				c, ok = controller{f[1], 2}, true
			}
		}
	}
	return c, ok
}

func (c controller) file(group, name string) string { return filepath.Join(c.root, group, name) }

// Files of version 1 with the limits of a group, in bytes per second by device
// (Documentation/admin-guide/cgroup-v1/blkio-controller.rst of the kernel).
const (
	readLimit  = "blkio.throttle.read_bps_device"
	writeLimit = "blkio.throttle.write_bps_device"
)

// ioMax is the file of version 2 with all limits (Documentation/admin-guide/cgroup-v2.rst).
const ioMax = "io.max"

// limit makes a group that reads and writes a device as fast as the disk.
func (c controller) limit(group, device string, d *Disk) error {
	if c.version == 2 {
		if err := os.WriteFile(filepath.Join(c.root, "cgroup.subtree_control"), []byte("+io"), 0); err != nil {
			return err
		}
	}
	if err := os.Mkdir(filepath.Join(c.root, group), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	for _, l := range []struct {
		file, key string
		rate      measure.Rate
	}{{readLimit, "rbps", d.Read}, {writeLimit, "wbps", d.Write}} {
		if l.rate == 0 {
			continue
		}
		file, text := l.file, fmt.Sprintf("%s %d", device, l.rate/8)
		if c.version == 2 {
			file, text = ioMax, fmt.Sprintf("%s %s=%d", device, l.key, l.rate/8)
		}
		if err := os.WriteFile(c.file(group, file), []byte(text), 0); err != nil {
			return err
		}
	}
	return nil
}

// lift removes the limits of a group: what waits for the disk goes on.
func (c controller) lift(group string) {
	files, none := []string{readLimit, writeLimit}, "0"
	if c.version == 2 {
		files, none = []string{ioMax}, "rbps=max wbps=max"
	}
	for _, file := range files {
		limits, _ := os.ReadFile(c.file(group, file))
		for line := range strings.Lines(string(limits)) {
			if device, _, ok := strings.Cut(line, " "); ok {
				_ = os.WriteFile(c.file(group, file), []byte(device+" "+none), 0) // else remove waits
			}
		}
	}
}

// remove moves what still runs in a group out of it and removes the group.
func (c controller) remove(ctx context.Context, group string) error {
	for end := time.Now().Add(stopTimeout); ; {
		running, _ := os.ReadFile(c.file(group, "cgroup.procs"))
		for pid := range strings.Lines(string(running)) {
			_ = os.WriteFile(filepath.Join(c.root, "cgroup.procs"), []byte(strings.TrimSpace(pid)), 0) // it may have ended
		}
		err := unix.Rmdir(filepath.Join(c.root, group))
		if err == nil || errors.Is(err, unix.ENOENT) {
			return nil
		}
		if !errors.Is(err, unix.EBUSY) || time.Now().After(end) || ctx.Err() != nil {
			return fail("lab.disk.remove", measure.Figures{"group": filepath.Join(c.root, group), "cause": err})
		}
		time.Sleep(10 * time.Millisecond) // a process is about to end
	}
}

// groupsOf are the names of the existing groups of a lab.
func (c controller) groupsOf(lab string) (names []string) {
	entries, _ := os.ReadDir(c.root) // none that can be removed, if it cannot be read
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), namespacePrefix(lab)) {
			names = append(names, e.Name())
		}
	}
	return names
}

// liftLimits makes the disks of a lab as fast as the machine's.
func liftLimits(lab string) {
	if c, ok := findController(); ok {
		for _, group := range c.groupsOf(lab) {
			c.lift(group)
		}
	}
}

// removeGroups removes the control groups of a lab. It continues after a failure and returns
// all.
func removeGroups(ctx context.Context, lab string) (problems []error) {
	c, ok := findController()
	if !ok {
		return nil
	}
	for _, group := range c.groupsOf(lab) {
		if err := c.remove(ctx, group); err != nil {
			problems = append(problems, err)
		}
	}
	return problems
}

package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

// disks makes the folders of nodes with a disk, and the control groups of those whose disk is
// slower than the machine's.
func (a *assembly) disks(context.Context) error {
	for _, n := range a.lab.Topology.Nodes {
		if n.Disk == nil {
			continue
		}
		if err := a.lab.disk(n); err != nil {
			return fail("lab.build_node", measure.Figures{"node": n.Name, "cause": err})
		}
	}
	return nil
}

func (l *Lab) disk(n *Node) error {
	folder := l.DiskFolder(n.Name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fail("lab.disk.folder", measure.Figures{"folder": folder, "cause": err})
	}
	if !n.Disk.limited() {
		return nil
	}
	device, err := blockDevice(folder)
	if err != nil {
		return err
	}
	c, ok := findController()
	if !ok {
		return measure.Fail(measure.KindUsage, "lab.disk.no_controller", nil)
	}
	if err := c.limit(NamespaceName(l.Topology.Name, n.Name), device, n.Disk); err != nil {
		return fail("lab.disk.limit", measure.Figures{"device": device, "cause": err})
	}
	return nil
}

// blockDevice is the number, "MAJOR:MINOR", of the whole block device that has a folder.
func blockDevice(folder string) (string, error) {
	var s unix.Stat_t
	if err := unix.Stat(folder, &s); err != nil {
		return "", fail("lab.disk.folder", measure.Figures{"folder": folder, "cause": err})
	}
	number := deviceNumber(uint64(s.Dev)) //nolint:unconvert // of another type on other processors
	if device, ok := wholeDevice(number); ok {
		return device, nil
	}
	// File systems such as btrfs have a number of their own; the table of mounts has their device.
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	fileSystem, source := mountOf(string(mounts), number)
	if strings.HasPrefix(source, "/dev/") && unix.Stat(source, &s) == nil && s.Mode&unix.S_IFMT == unix.S_IFBLK {
		if device, ok := wholeDevice(deviceNumber(uint64(s.Rdev))); ok { //nolint:unconvert // as above
			return device, nil
		}
	}
	return "", measure.Fail(measure.KindUsage, "lab.disk.no_device", measure.Figures{"folder": folder, "file_system": fileSystem})
}

func deviceNumber(dev uint64) string { return fmt.Sprintf("%d:%d", unix.Major(dev), unix.Minor(dev)) }

// wholeDevice returns the block device that a partition is on, or the device itself. It returns
// false if no block device has the number.
func wholeDevice(number string) (string, bool) {
	dir := "/sys/dev/block/" + number
	if _, err := os.Stat(dir + "/partition"); err == nil {
		dir += "/.." // of what the link leads to
	}
	text, err := os.ReadFile(dir + "/dev")
	return strings.TrimSpace(string(text)), err == nil
}

// mountOf returns the type and the source of the mount with a device number, from the lines of
// /proc/PID/mountinfo (proc_pid_mountinfo(5)), or empty strings if there is no such mount.
func mountOf(mounts, number string) (fileSystem, source string) {
	for line := range strings.Lines(mounts) {
		before, after, _ := strings.Cut(line, " - ")
		has, what := strings.Fields(before), strings.Fields(after)
		if len(has) > 2 && has[2] == number && len(what) > 1 {
			fileSystem, source = what[0], what[1]
		}
	}
	return fileSystem, source
}

// joinGroup moves this process into the control group of a namespace's disk, if it has one.
func joinGroup(namespace string) error {
	c, ok := findController()
	if !ok {
		return nil
	}
	err := os.WriteFile(c.file(namespace, "cgroup.procs"), []byte("0"), 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

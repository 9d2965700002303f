package filecopy

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

// fileSystems are the names of types of statfs(2) that hold files to copy.
var fileSystems = map[int64]string{
	unix.EXT4_SUPER_MAGIC: "ext4", unix.XFS_SUPER_MAGIC: "xfs", unix.BTRFS_SUPER_MAGIC: "btrfs", unix.TMPFS_MAGIC: "tmpfs",
	unix.NFS_SUPER_MAGIC: "nfs", unix.SMB_SUPER_MAGIC: "smb", unix.CIFS_SUPER_MAGIC: "cifs", unix.SMB2_SUPER_MAGIC: "smb2", unix.OVERLAYFS_SUPER_MAGIC: "overlay",
	unix.F2FS_SUPER_MAGIC: "f2fs", unix.FUSE_SUPER_MAGIC: "fuse", unix.MSDOS_SUPER_MAGIC: "vfat", unix.EXFAT_SUPER_MAGIC: "exfat",
	unix.V9FS_MAGIC: "9p", unix.CEPH_SUPER_MAGIC: "ceph", unix.RAMFS_MAGIC: "ramfs", 0x2fc12fc1: "zfs",
}

// describePlace is what the system tells about the folder that is open as root.
func describePlace(root *os.Root) measure.CopyPlace {
	var p measure.CopyPlace
	d, err := root.Open(".")
	if err != nil {
		return p
	}
	defer d.Close()
	if s, err := statfs(d); err == nil {
		p.FileSystem = fileSystems[int64(s.Type)] //nolint:unconvert // of another type on other processors
		p.FreeBytes = max(0, freeIn(s).bytes)
	}
	if link, err := os.Readlink(deviceFolder(d)); err == nil {
		p.Device = filepath.Base(link)
	}
	return p
}

// spaceOf is what is free on the disk of the folder that is open as root.
func spaceOf(root *os.Root) space {
	d, err := root.Open(".")
	if err != nil {
		return space{unlimited, unlimited}
	}
	defer d.Close()
	s, err := statfs(d)
	if err != nil {
		return space{unlimited, unlimited}
	}
	return freeIn(s)
}

func statfs(f *os.File) (unix.Statfs_t, error) {
	var s unix.Statfs_t
	err := control(f, func(fd int) error { return unix.Fstatfs(fd, &s) })
	return s, err
}

// freeIn is what is free in a file system. One with no blocks at all does not tell, and one
// with no files at all has no limit on them, such as btrfs.
func freeIn(s unix.Statfs_t) space {
	free := space{unlimited, unlimited}
	if s.Blocks > 0 {
		free.bytes = int64(min(s.Bavail*uint64(s.Bsize), 1<<62)) //nolint:unconvert // of other types on other processors
	}
	if s.Files > 0 {
		free.files = int64(min(s.Ffree, 1<<62))
	}
	return free
}

// deviceFolder is where the kernel tells about the device of a file; of none for a file
// system without one.
func deviceFolder(f *os.File) string {
	var s unix.Stat_t
	if control(f, func(fd int) error { return unix.Fstat(fd, &s) }) != nil {
		return ""
	}
	dev := uint64(s.Dev) //nolint:unconvert // of another type on other processors
	return "/sys/dev/block/" + strconv.Itoa(int(unix.Major(dev))) + ":" + strconv.Itoa(int(unix.Minor(dev)))
}

// device reads the counters of a block device; a nil one has none.
type device struct{ file *os.File }

// deviceOf is the device of the folder that is open as root; nil without one.
func deviceOf(root *os.Root) *device {
	d, err := root.Open(".")
	if err != nil {
		return nil
	}
	defer d.Close()
	f, err := os.Open(deviceFolder(d) + "/stat")
	if err != nil {
		return nil
	}
	return &device{f}
}

const sector = 512 // bytes, in the kernel's counters whatever the device has

// read returns the counters since the host started
// (Documentation/block/stat.rst of the kernel).
func (d *device) read() (c measure.DiskCount, ok bool) {
	if d == nil {
		return c, false
	}
	var buf [512]byte
	n, _ := d.file.ReadAt(buf[:], 0)
	fields := strings.Fields(string(buf[:n]))
	if len(fields) < 10 {
		return c, false
	}
	number := func(i int) int64 { v, _ := strconv.ParseInt(fields[i], 10, 64); return v }
	return measure.DiskCount{
		Reads: number(0), ReadBytes: number(2) * sector, Writes: number(4), WrittenBytes: number(6) * sector,
		BusyNs: number(9) * int64(time.Millisecond),
	}, true
}

func (d *device) close() {
	if d != nil {
		_ = d.file.Close()
	}
}

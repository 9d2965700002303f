package host

import (
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

// mostDisks bounds the list.
const mostDisks = 16

// disks are the block devices that stand for hardware, or for what a hypervisor shows as
// hardware, the one that has the folder first: loops, RAM and assembled devices are left
// out.
func (t tree) disks(folder string) []measure.Disk {
	working := t.diskOf(folder)
	var found []measure.Disk
	for _, name := range t.names("/sys/block") {
		dir := "/sys/block/" + name
		if name != working {
			if _, err := os.Stat(string(t) + dir + "/device"); err != nil || len(found) == mostDisks {
				continue
			}
		}
		d := t.disk(name)
		if d.Working = name == working; d.Working {
			found = append([]measure.Disk{d}, found...)
			continue
		}
		found = append(found, d)
	}
	return found[:min(len(found), mostDisks)]
}

func (t tree) disk(name string) measure.Disk {
	dir := "/sys/block/" + name
	d := measure.Disk{Name: name, Model: t.read(dir + "/device/model"), Scheduler: chosen(t.read(dir + "/queue/scheduler"))}
	const sector = 512 // whatever the device's own is
	if n, ok := t.number(dir + "/size"); ok && n > 0 && n < 1<<53 {
		d.Bytes = n * sector
	}
	rotates, ok := t.number(dir + "/queue/rotational")
	d.Rotational = ok && rotates == 1
	return d
}

// chosen is the one in brackets of a list such as "mq-deadline [none]".
func chosen(list string) string {
	_, rest, ok := strings.Cut(list, "[")
	if !ok {
		return list
	}
	name, _, _ := strings.Cut(rest, "]")
	return name
}

// diskOf is the name of the block device that a folder is on, a partition's whole disk;
// empty where the file system is not on one device.
func (t tree) diskOf(folder string) string {
	var s unix.Stat_t
	if unix.Stat(folder, &s) != nil {
		return ""
	}
	number := strconv.Itoa(int(unix.Major(s.Dev))) + ":" + strconv.Itoa(int(unix.Minor(s.Dev)))
	to, err := os.Readlink(string(t) + "/sys/dev/block/" + number)
	if err != nil {
		return ""
	}
	if t.read("/sys/dev/block/"+number+"/partition") != "" {
		to = path.Dir(to)
	}
	return path.Base(to)
}

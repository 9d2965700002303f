package host

import (
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

// limits are those of the process's control groups (cgroups(7)) and its own.
func (t tree) limits() *measure.Limits {
	l := t.groupLimits()
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &r) == nil && r.Cur < math.MaxInt64 {
		l.OpenFiles = int64(r.Cur)
	}
	if l == (measure.Limits{}) {
		return nil
	}
	return &l
}

// groupLimits are the smallest of the groups from the process's own to the top one that it
// sees: each limits all below it.
func (t tree) groupLimits() (l measure.Limits) {
	groups := t.controlGroups()
	for _, g := range groups {
		for dir := range g.upwards() {
			quota, memory := t.limitsOf(g.version, dir)
			if quota > 0 && (l.CPUQuota == 0 || quota < l.CPUQuota) {
				l.CPUQuota = quota
			}
			if memory > 0 && (l.MemoryBytes == 0 || memory < l.MemoryBytes) {
				l.MemoryBytes = memory
			}
		}
		l.CGroup = max(l.CGroup, g.version)
	}
	if len(groups) > 1 { // if both versions are mounted, version 2 has no controllers, or not these
		l.CGroup = 1
	}
	return l
}

// limitsOf reads the limits of one group: processor time in processors, and memory in bytes. A
// value of 0 is no limit.
func (t tree) limitsOf(version int, dir string) (quota float64, memory int64) {
	const unlimited = math.MaxInt64 &^ 0xffff // as version 1 writes it, less at most a page
	if version == 2 {
		most, period, _ := strings.Cut(t.read(dir+"/cpu.max"), " ")
		quota = quotient(most, period)
		memory, _ = t.number(dir + "/memory.max")
	} else {
		quota = quotient(t.read(dir+"/cpu.cfs_quota_us"), t.read(dir+"/cpu.cfs_period_us"))
		memory, _ = t.number(dir + "/memory.limit_in_bytes")
	}
	if memory < 0 || memory >= unlimited {
		memory = 0
	}
	return quota, memory
}

// quotient is that of two positive numbers, 0 for others: "max" and -1 are no limit.
func quotient(a, b string) float64 {
	x, err := strconv.ParseInt(a, 10, 64)
	y, bad := strconv.ParseInt(b, 10, 64)
	if err != nil || bad != nil || x <= 0 || y <= 0 {
		return 0
	}
	return float64(x) / float64(y)
}

// controlGroup is a group that the process is in.
type controlGroup struct {
	version   int
	mount     string // where its hierarchy is in the file system
	name      string // below mount, clean and absolute
	mountRoot string // the group that is at mount
}

// mostLevels bounds how deep a group may be.
const mostLevels = 64

// upwards are the folders of the group and those above it, up to the mount.
func (g controlGroup) upwards() func(yield func(string) bool) {
	return func(yield func(string) bool) {
		name := g.name
		for range mostLevels {
			if !yield(path.Join(g.mount, name)) || name == "/" {
				return
			}
			name = path.Dir(name)
		}
	}
}

// Ancestors are the processes above this one, nearest first. proc is where the kernel's files are, such as
// /proc. "ip netns exec" hides the mounts of control groups from what it starts; the root folder of a process
// above (proc_pid_root(5)) has them, for root and, of its own processes, for anybody.
func Ancestors(proc string) (ids []string) {
	for id := "self"; len(ids) < mostLevels; {
		_, rest, _ := strings.Cut(read(path.Join(proc, id, "status")), "\nPPid:")
		line, _, _ := strings.Cut(rest, "\n")
		id = strings.TrimSpace(line)
		if n, err := strconv.Atoi(id); err != nil || n <= 0 {
			break
		}
		ids = append(ids, id)
	}
	return ids
}

// mountsOfGroups are the mounts, and the root folder that they are below: those of the process, or of the
// nearest one above it that sees control groups.
func (t tree) mountsOfGroups() (mounts, root string) {
	const kind = " - cgroup"
	mounts = t.read("/proc/self/mountinfo")
	if strings.Contains(mounts, kind) {
		return mounts, ""
	}
	for _, id := range Ancestors(string(t) + "/proc") {
		if above := t.read("/proc/" + id + "/mountinfo"); strings.Contains(above, kind) {
			return above, "/proc/" + id + "/root"
		}
	}
	return mounts, ""
}

// controlGroups are those that limit processors or memory, of either version.
func (t tree) controlGroups() []controlGroup {
	var found []controlGroup
	mounts, root := t.mountsOfGroups()
	for line := range strings.Lines(t.read("/proc/self/cgroup")) { // number:controllers:name
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 || !strings.HasPrefix(parts[2], "/") {
			continue
		}
		version, kind := 1, "cgroup"
		controllers := strings.Split(parts[1], ",")
		if parts[0] == "0" && parts[1] == "" {
			version, kind = 2, "cgroup2"
		} else if !slices.Contains(controllers, "cpu") && !slices.Contains(controllers, "memory") {
			continue
		}
		if g, ok := mountOf(mounts, kind, controllers[0]); ok {
			g.version, g.mount = version, path.Join(root, g.mount)
			// Without a namespace of its own the process sees the whole name, of which a
			// container's mount has only the rest.
			rest, below := strings.CutPrefix(parts[2], strings.TrimSuffix(g.mountRoot, "/"))
			if !below {
				rest = "/"
			}
			g.name = path.Clean("/" + rest)
			found = append(found, g)
		}
	}
	return found
}

// mountOf finds a hierarchy in a mountinfo (proc(5)): of version 1 the one with the
// controller.
func mountOf(mounts, kind, controller string) (controlGroup, bool) {
	for line := range strings.Lines(mounts) {
		before, after, ok := strings.Cut(line, " - ")
		from, of := strings.Fields(before), strings.Fields(after)
		if !ok || len(from) < 5 || len(of) < 3 || of[0] != kind {
			continue
		}
		if controller == "" || slices.Contains(strings.Split(of[2], ","), controller) {
			return controlGroup{mountRoot: from[3], mount: from[4]}, true
		}
	}
	return controlGroup{}, false
}

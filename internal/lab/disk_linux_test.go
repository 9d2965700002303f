package lab

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

const disks = `
hosts:
  a: {disk: {read: 80M, write: 40M}}
  b: {server: true, disk: {write: 16M}}
links: [{from: a, to: b}]
`

// withDisks builds a lab with slow disks, where this machine can make them.
func withDisks(t *testing.T) (*Lab, controller) {
	t.Helper()
	needRoot(t)
	c, ok := findController()
	if !ok {
		t.Skip("this machine has no block controller of control groups")
	}
	if _, err := blockDevice(t.TempDir()); err != nil {
		t.Skip(err)
	}
	return up(t, disks), c
}

// groupsOfProcess is /proc/PID/cgroup.
func groupsOfProcess(t *testing.T, pid any) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%v/cgroup", pid))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// await waits until a condition holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not after 10 s: %s", what)
		}
	}
}

func TestTheProgramsOfAHostHaveItsDisk(t *testing.T) {
	l, c := withDisks(t)
	group := "/" + NamespaceName(l.Topology.Name, "a") + "\n"
	if out, err := l.Command(t.Context(), "a", "cat", "/proc/self/cgroup").Output(); err != nil || !strings.Contains(string(out), group) {
		t.Errorf("a program on a is not in its group: %s, %v", out, err)
	}
	i := slices.IndexFunc(l.state.Processes, func(p process) bool { return p.Role == roleServer })
	if got := groupsOfProcess(t, l.state.Processes[i].PID); !strings.Contains(got, "/"+NamespaceName(l.Topology.Name, "b")+"\n") {
		t.Errorf("the server of b is not in its group: %s", got)
	}
	if got := groupsOfProcess(t, "self"); strings.Contains(got, "soku-"+l.Topology.Name) {
		t.Errorf("this program is in a group of the lab: %s", got)
	}
	limits := func(host string, files ...string) (all string) {
		for _, f := range files {
			text, err := os.ReadFile(c.file(NamespaceName(l.Topology.Name, host), f))
			if err != nil {
				t.Fatal(err)
			}
			all += string(text)
		}
		return all
	}
	device, err := blockDevice(l.DiskFolder("a"))
	if err != nil {
		t.Fatal(err)
	}
	files, want := []string{readLimit, writeLimit}, device+" 10000000\n"+device+" 5000000\n"
	if c.version == 2 {
		files, want = []string{ioMax}, device+" rbps=10000000 wbps=5000000 riops=max wiops=max\n"
	}
	if got := limits("a", files...); got != want {
		t.Errorf("limits of a in bytes per second: %q, want %q", got, want)
	}
	s, err := l.Status()
	if err != nil || s.Nodes[0].Disk == nil || *s.Nodes[0].Disk != (DiskStatus{l.DiskFolder("a"), 80e6, 40e6}) {
		t.Errorf("status: %+v, %v", s.Nodes[0].Disk, err)
	}
}

func TestAServerWithADiskTakesCopiesInItsFolder(t *testing.T) {
	l := up(t, pair)
	i := slices.IndexFunc(l.state.Processes, func(p process) bool { return p.Role == roleServer })
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", l.state.Processes[i].PID))
	if err != nil || !strings.HasSuffix(string(text), "\x00server\x00--max-duration\x000\x00--copy-max\x000\x00--copy-root\x00"+l.DiskFolder("b")+"\x00") {
		t.Errorf("it runs %q, %v", text, err)
	}
	if entries, err := os.ReadDir(l.DiskFolder("b")); err != nil || len(entries) > 0 {
		t.Errorf("its folder has %v, %v", entries, err)
	}
	if folder := l.DiskFolder("a"); folder != "" {
		t.Errorf("a has no disk, but the folder %s", folder)
	}
}

// What up checks for every lab, here after the programs of the lab were killed, with one that
// waits for its disk and one that goes on.
func TestDownRemovesDisksWhateverTheProgramsDo(t *testing.T) {
	l, c := withDisks(t)
	stays := l.Command(t.Context(), "a", "sleep", "60")
	// 4 MiB with one write take two seconds at 16 Mbit/s.
	writes := l.Command(t.Context(), "b", "dd", "if=/dev/zero", "of="+filepath.Join(l.DiskFolder("b"), "x"), "bs=4M", "count=1000", "oflag=direct", "status=none")
	for _, cmd := range []*exec.Cmd{stays, writes} {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
		await(t, cmd.Path+" is in its group", func() bool {
			return strings.Contains(groupsOfProcess(t, cmd.Process.Pid), "/soku-"+l.Topology.Name+".")
		})
	}
	await(t, "dd opened its file", func() bool {
		_, err := os.Stat(filepath.Join(l.DiskFolder("b"), "x"))
		return err == nil
	})
	for _, p := range l.state.Processes {
		if err := unix.Kill(p.PID, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Kill(writes.Process.Pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := Down(t.Context(), l.Topology.Name, l.options); err != nil {
		t.Fatal(err)
	}
	nothingLeft(t, l)
	if got := groupsOfProcess(t, stays.Process.Pid); strings.Contains(got, "soku-") {
		t.Errorf("sleep, which goes on, is in %s", got)
	}
	if groups := c.groupsOf(l.Topology.Name); len(groups) > 0 {
		t.Errorf("groups %v", groups)
	}
}

func TestALabWhoseStateIsLostLeavesNoDisk(t *testing.T) {
	l, _ := withDisks(t)
	_ = stop(t.Context(), l.state.Processes)
	if err := os.Remove(filepath.Join(l.Dir, "state.json")); err != nil {
		t.Fatal(err)
	}
	if err := Down(t.Context(), l.Topology.Name, l.options); err != nil {
		t.Error(err)
	}
	nothingLeft(t, l)
}

func TestAFileSystemWithoutADeviceIsNamed(t *testing.T) {
	needRoot(t)
	o := testOptions(t)
	if err := unix.Mount("tmpfs", o.RunDir, "tmpfs", 0, ""); err != nil {
		t.Skip(err)
	}
	defer func() {
		if err := unix.Unmount(o.RunDir, 0); err != nil {
			t.Error(err)
		}
	}()
	top := topologyOf(t, disks)
	_, err := Up(t.Context(), top, o)
	want := "node a: the speed of its disk cannot be limited: " + o.disks(top.Name) + "/a is on a file system (tmpfs) without a block device; name a folder on a disk, such as SOKU_RUN="
	if measure.KindOf(err) != measure.KindUsage || !strings.Contains(err.Error(), want) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	nothingLeft(t, &Lab{Topology: top, Dir: o.dir(top.Name), options: o})
	l, err := Up(t.Context(), topologyOf(t, "hosts: {a: {disk: }}"), o) // nothing to limit
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Down(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestTheBlockControllerIsFoundAmongTheMounts(t *testing.T) {
	unified := t.TempDir()
	const first = "tmpfs /sys/fs/cgroup tmpfs rw 0 0\ncgroup /sys/fs/cgroup/cpu cgroup rw,relatime,cpu 0 0\n"
	const blkio = "cgroup /sys/fs/cgroup/blkio cgroup rw,relatime,blkio 0 0\n"
	second := "cgroup2 " + unified + " cgroup2 rw,relatime 0 0\n"
	for _, c := range []struct {
		name, mounts, controllers string
		want                      controller
	}{
		{"version 1", first + blkio, "", controller{"/sys/fs/cgroup/blkio", 1}},
		{"version 2", second, "cpuset cpu io memory pids\n", controller{unified, 2}},
		{"both, the controller in version 1", second + first + blkio, "", controller{"/sys/fs/cgroup/blkio", 1}},
		{"neither has it", second + first, "cpu memory\n", controller{}},
		{"no mounts", "damaged\n", "", controller{}},
	} {
		if err := os.WriteFile(filepath.Join(unified, "cgroup.controllers"), []byte(c.controllers), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, ok := controllerIn(c.mounts); got != c.want || ok != (c.want.version > 0) {
			t.Errorf("%s: %+v, %v", c.name, got, ok)
		}
	}
}

// The files of version 2, in a folder in place of its file system.
func TestAGroupOfVersion2HasBothLimitsInOneFile(t *testing.T) {
	c := controller{t.TempDir(), 2}
	if err := c.limit("soku-x.a", "8:0", &Disk{Write: 60e6}); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"cgroup.subtree_control": "+io", "soku-x.a/io.max": "8:0 wbps=7500000"} {
		if got, err := os.ReadFile(filepath.Join(c.root, file)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", file, got, err, want)
		}
	}
	c.lift("soku-x.a")
	if got, err := os.ReadFile(c.file("soku-x.a", ioMax)); err != nil || string(got) != "8:0 rbps=max wbps=max" {
		t.Errorf("lifted: %q, %v", got, err)
	}
	if got := c.groupsOf("x"); !slices.Equal(got, []string{"soku-x.a"}) {
		t.Errorf("groups %v", got)
	}
}

func TestTheDeviceOfAMountIsItsSource(t *testing.T) {
	const mounts = "22 1 0:21 / / rw,relatime shared:1 - btrfs /dev/sda2 rw,subvol=/root\n23 22 0:22 / /run rw - tmpfs tmpfs rw\nbroken\n"
	for number, want := range map[string][2]string{"0:21": {"btrfs", "/dev/sda2"}, "0:22": {"tmpfs", "tmpfs"}, "0:23": {}} {
		if fileSystem, source := mountOf(mounts, number); fileSystem != want[0] || source != want[1] {
			t.Errorf("%s: %s, %s", number, fileSystem, source)
		}
	}
	if _, err := blockDevice("/proc"); !strings.Contains(err.Error(), "(proc) without a block device") {
		t.Error(err)
	}
	if _, err := blockDevice("/nowhere"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

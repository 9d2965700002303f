package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Where files are copied.
const (
	onTmpfs = "tmpfs"
	onDisk  = "disk"
)

// fileSet is files of one size with contents that cannot be compressed.
type fileSet struct {
	name  string
	count int
	size  int64 // bytes of each
}

var (
	bigFile    = fileSet{"big", 1, 1 << 30}
	linkFile   = fileSet{"link", 1, 500_000_000}
	smallFiles = fileSet{"small", 10_000, 16 << 10}
)

func (s fileSet) bytes() int64 { return int64(s.count) * s.size }

// folders are where a bench keeps files: one on a disk, one in memory. A key is onTmpfs or
// onDisk.
type folders map[string]string

// openFolders makes those folders; a medium that is not there has none. remove removes them
// with all that is in them.
func openFolders() (f folders, remove func()) {
	f = folders{}
	for medium, parent := range map[string]string{onTmpfs: "/dev/shm", onDisk: "/var/tmp"} {
		if folder, err := os.MkdirTemp(parent, "soku-bench-"); err == nil {
			f[medium] = folder
		}
	}
	return f, func() {
		for medium, folder := range f {
			f.clear(medium)
			_ = os.RemoveAll(folder)
		}
	}
}

func (f folders) source(medium string, s fileSet) string {
	return filepath.Join(f[medium], "from-"+s.name)
}
func (f folders) target(medium string) string { return filepath.Join(f[medium], "to") }

// filesADir is how many files a directory of a set has at most.
const filesADir = 1000

// prepare makes the set of files, unless an earlier run has, and an empty target, and reads
// the files once: every run begins with all of them in the page cache.
func (f folders) prepare(ctx context.Context, medium string, s fileSet) error {
	if f[medium] == "" {
		return fmt.Errorf("%w: no folder on %s", errUnsupported, medium)
	}
	source := f.source(medium, s)
	if _, err := os.Stat(source); err != nil {
		if err := s.create(source); err != nil {
			return err
		}
	}
	if err := f.renew(ctx, medium, 2*s.bytes()+1<<29); err != nil {
		return err
	}
	return filepath.WalkDir(source, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			err = read(path)
		}
		return err
	})
}

func read(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	for b := make([]byte, 1<<20); err == nil; {
		_, err = file.Read(b)
	}
	return nil // the end
}

// create makes the files in a new folder.
func (s fileSet) create(folder string) error {
	source, block := rand.NewChaCha8([32]byte{1}), make([]byte, 1<<20)
	for i := range s.count {
		dir := filepath.Join(folder, fmt.Sprint(i/filesADir))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		file, err := os.Create(filepath.Join(dir, fmt.Sprint(i)))
		if err != nil {
			return err
		}
		for left := s.size; left > 0 && err == nil; {
			b := block[:min(left, int64(len(block)))]
			_, _ = source.Read(b) // never fails
			_, err = file.Write(b)
			left -= int64(len(b))
		}
		if closed := file.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// renew makes an empty target with room for that many bytes. On a disk it is a new ext4 file
// system in a file: an old one does not reuse the inodes of files that were just removed, and
// searches for others, so that a run would pay for the one before it.
func (f folders) renew(ctx context.Context, medium string, bytes int64) error {
	f.clear(medium)
	target := f.target(medium)
	if err := os.MkdirAll(target, 0o700); err != nil || medium == onTmpfs {
		return err
	}
	if os.Geteuid() != 0 {
		return fmt.Errorf("%w: mounting a file system needs root", errUnsupported)
	}
	image := f.image()
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		return err
	}
	run := func(line string) (string, error) {
		words := strings.Fields(line)
		out, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w: %s: %s", errUnsupported, line, lastLine(string(out)))
		}
		return strings.TrimSpace(string(out)), err
	}
	// Holes would be filled during the run, by the file system below, which no disk has.
	if _, err := run(fmt.Sprintf("fallocate -l %d %s", bytes, image)); err != nil {
		return err
	}
	if _, err := run("mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 " + image); err != nil {
		return err
	}
	// Without direct I/O the image is in the page cache, too, and waits there for the flush.
	device, err := run("losetup --direct-io=on --find --show " + image)
	if err != nil {
		return err
	}
	_, err = run("mount " + device + " " + target)
	if _, detached := run("losetup -d " + device); err == nil { // when it is unmounted
		err = detached
	}
	if err == nil {
		_, err = run("sync") // what is left of the runs before
	}
	return err
}

func (f folders) image() string { return filepath.Join(f[onDisk], "image") }

// clear removes a target and what is in it.
func (f folders) clear(medium string) {
	if f[medium] == "" {
		return
	}
	target := f.target(medium)
	if medium == onDisk {
		// Also after the end of the bench. It fails where none is mounted.
		_ = exec.CommandContext(context.Background(), "umount", target).Run()
		_ = os.Remove(f.image())
	}
	_ = os.RemoveAll(target)
}

// alone runs a program that has no other end, and times it.
func alone(ctx context.Context, c Commands, e Contender) (Figures, float64, error) {
	program, out := start(ctx, c.Client)
	begin := time.Now()
	err := program.Run()
	took := time.Since(begin)
	if err != nil {
		return nil, 0, refusal(out.String()+out.aside.String(), err)
	}
	f := Figures{copyRate.Name: float64(e.Bytes) / took.Seconds() / 1e6}
	if e.Parse != nil {
		if f, err = e.Parse(out.String(), ""); err != nil {
			return nil, 0, fmt.Errorf("%w: %s", err, lastLine(out.String()))
		}
	}
	f[wall.Name] = float64(took.Microseconds()) / 1e3
	return f, 0, nil
}

// localCopies copy a set from folder to folder. On a disk every one of them ends when the
// file system of the target is flushed.
func localCopies(medium string, s fileSet) []Contender {
	own := []string{"copy", "--cache", "warm", "--checksum", "off", "--json", "--no-save"}
	flush := ""
	if medium == onDisk {
		own, flush = append(own, "--sync", "end"), ` && sync -f "$2"`
	} else {
		own = append(own, "--sync", "off")
	}
	build := func(words func(from, to string) []string) func(Site) Commands {
		return func(x Site) Commands {
			return Commands{
				Client: words(x.Folders.source(medium, s), x.Folders.target(medium)),
				Before: func(ctx context.Context) error { return x.Folders.prepare(ctx, medium, s) },
				After:  func() { x.Folders.clear(medium) },
			}
		}
	}
	soku := func(label string, more ...string) Contender {
		return Contender{Label: label, Program: "soku", NoCPU: true, Parse: parseCopy, Build: build(func(from, to string) []string {
			return append(append([]string{"soku"}, append(own[:len(own):len(own)], more...)...), "--folder", from, "--to", to)
		})}
	}
	peer := func(program string) Contender {
		return Contender{Label: program + " -a", Program: program, NoCPU: true, Bytes: s.bytes(), Build: build(func(from, to string) []string {
			return []string{"sh", "-c", program + ` -a "$1/" "$2/copy"` + flush, "sh", from, to}
		})}
	}
	out := []Contender{soku(sokuLabel), peer("cp"), peer("rsync")}
	if s.count > 1 {
		out = append(out, soku("soku -P 8", "-P", "8"))
	}
	return out
}

// linkCopies returns contenders that copy a file over a link, and programs that move as many bytes
// from memory to memory.
func linkCopies(medium string, s fileSet) []Contender {
	sync := "off"
	if medium == onDisk {
		sync = "end"
	}
	amount := fmt.Sprint(s.bytes())
	out := []Contender{
		{Label: sokuLabel, Program: "soku", Parse: parseSoku, Build: func(x Site) Commands {
			return Commands{
				Server: []string{"soku", "server", "-q", "--listen", fmt.Sprintf("%s:%d", x.Host, x.Port), "--copy-max", "0", "--copy-root", x.Folders.target(medium)},
				Client: []string{"soku", "copy", x.Host, "-p", fmt.Sprint(x.Port), "-C", "cubic", "--folder", x.Folders.source(medium, s), "--cache", "warm", "--sync", sync, "--json", "--no-save"},
				Before: func(ctx context.Context) error { return x.Folders.prepare(ctx, medium, s) },
				After:  func() { x.Folders.clear(medium) },
			}
		}},
		soku("soku tcp", "tcp", "-C", "cubic", "-n", amount),
		iperf3TCP("iperf3", 1, "-n", amount),
	}
	for i := range out {
		parse := out[i].Parse
		out[i].Parse = func(client, server string) (Figures, error) {
			f, err := parse(client, server)
			if err == nil {
				f[linkShare.Name] = f[goodput.Name] / linkPayload * 100
			}
			return f, err
		}
	}
	return out
}

// linkPayload is the most goodput that TCP with time stamps reaches on a link of 1 Gbit/s
// with an MTU of 1500 bytes, Gbit/s: the shaper counts Ethernet headers.
const linkPayload = 1448.0 / 1514

// parseCopy reads the rate of the copy from a result document. It counts from the first file
// to the last one, flushed if that was asked for: without the start of the program, the list
// of files before, and the removal of what was copied after.
func parseCopy(client, _ string) (Figures, error) {
	var doc struct {
		Copy struct {
			Stages []struct {
				Bytes float64 `json:"bytes"`
				NS    float64 `json:"duration_ns"`
			} `json:"stages"`
		} `json:"copy"`
	}
	if err := json.Unmarshal([]byte(client), &doc); err != nil {
		return nil, err
	}
	if len(doc.Copy.Stages) != 1 {
		return nil, errNoFigure
	}
	stage := doc.Copy.Stages[0]
	return keep(Figures{copyRate.Name: stage.Bytes / stage.NS * 1e3})
}

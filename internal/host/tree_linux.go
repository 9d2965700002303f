package host

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// tree is a root folder below which the system's files are: "" for those of this machine.
type tree string

// mostNames bounds what is read of one folder.
const mostNames = 8192

// read is as [read].
func (t tree) read(path string) string { return read(string(t) + path) }

// number reads a file that has one number.
func (t tree) number(path string) (n int64, ok bool) {
	n, err := strconv.ParseInt(t.read(path), 0, 64)
	return n, err == nil
}

// count reads a file that has a number of things, 0 where it has no such number.
func (t tree) count(path string) int {
	n, ok := t.number(path)
	if !ok || n < 0 || n > math.MaxInt32 {
		return 0
	}
	return int(n)
}

// names are the sorted names in a folder.
func (t tree) names(path string) []string {
	f, err := os.Open(string(t) + path)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(mostNames)
	slices.Sort(names)
	return names
}

// link is the last part of what a symbolic link points to, or "".
func (t tree) link(path string) string {
	to, err := os.Readlink(string(t) + path)
	if err != nil {
		return ""
	}
	return filepath.Base(to)
}

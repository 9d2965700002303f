package doctor

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"soku/internal/host"
)

// SystemSettings are those of this system, in the network namespace of the calling thread.
func SystemSettings() Settings { return systemSettings{} }

// noFollow makes opening a link fail.
const noFollow = syscall.O_NOFOLLOW

// private reports whether a file is a regular one of the user of this process that no other user
// may write to.
func private(info fs.FileInfo) bool {
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode().IsRegular() && int(owner.Uid) == os.Geteuid() && info.Mode().Perm()&0o022 == 0
}

// systemSettings are those whose files are below root, and of drivers those of this machine.
type systemSettings struct{ root string }

func (s systemSettings) Read(c Change) (string, error) {
	if c.file() == "" {
		return readDriver(c)
	}
	b, err := os.ReadFile(s.root + c.file())
	return strings.Join(strings.Fields(string(b)), " "), err // tabs between numbers
}

func (s systemSettings) Write(c Change, value string) error {
	if c.file() == "" {
		return writeDriver(c, value)
	}
	f, err := os.OpenFile(s.root+c.file(), os.O_WRONLY|os.O_TRUNC, 0) // never made: it is the kernel's
	if err != nil {
		return err
	}
	_, err = f.WriteString(value + "\n")
	return errors.Join(err, f.Close())
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func readDriver(c Change) (string, error) {
	e, err := host.OpenEthtool(c.Device)
	if err != nil {
		return "", err
	}
	defer e.Close()
	if c.Kind == KindRing {
		r, err := e.Rings()
		if c.Key == "rx" {
			return strconv.FormatUint(uint64(r.Rx), 10), err
		}
		return strconv.FormatUint(uint64(r.Tx), 10), err
	}
	has, err := e.Features()
	on := slices.ContainsFunc(features[c.Key], func(kernel string) bool { return has[kernel].On })
	return onOff(on), err
}

func writeDriver(c Change, value string) error {
	e, err := host.OpenEthtool(c.Device)
	if err != nil {
		return err
	}
	defer e.Close()
	if c.Kind == KindRing {
		n, err := strconv.ParseUint(value, 10, 32)
		if err != nil {
			return err
		}
		r, err := e.Rings()
		if err != nil {
			return err
		}
		if c.Key == "rx" {
			r.Rx = uint32(n)
		} else {
			r.Tx = uint32(n)
		}
		return e.SetRings(r)
	}
	has, err := e.Features()
	if err != nil {
		return err
	}
	want := map[string]bool{}
	for _, kernel := range features[c.Key] {
		if has[kernel].Changeable {
			want[kernel] = value == "on"
		}
	}
	return e.SetFeatures(want)
}

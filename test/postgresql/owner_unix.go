//go:build unix

package postgresql

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// owner is the user of the server: it refuses to run as root.
func owner() (uid, gid int, err error) {
	u, err := user.Lookup("postgres")
	if err != nil {
		return 0, 0, fmt.Errorf("PostgreSQL does not run as root: %w", err)
	}
	if uid, err = strconv.Atoi(u.Uid); err != nil {
		return 0, 0, err
	}
	gid, err = strconv.Atoi(u.Gid)
	return uid, gid, err
}

// give makes files those of the server's user, if this process is root.
func give(files ...string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	uid, gid, err := owner()
	for _, f := range files {
		if err == nil {
			err = os.Chown(f, uid, gid)
		}
	}
	return err
}

// asOwner lets a program run as the server's user, if this process is root.
func asOwner(c *exec.Cmd) *exec.Cmd {
	if os.Geteuid() != 0 {
		return c
	}
	if uid, gid, err := owner(); err == nil {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	return c
}

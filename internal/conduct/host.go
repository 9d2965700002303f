package conduct

import (
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"time"

	"soku/internal/agent"
	"soku/internal/lab"
	"soku/internal/version"
)

// Host is the machine on which a campaign is conducted.
type Host struct {
	Self agent.Self  // starts this program again: trials that run simultaneously, and those in a lab
	Here agent.Place // runs a trial in this process
	Open func(string) (fs.File, error)
	Now  func() time.Time
	// Username returns the login name that the journal has with what a person confirms.
	Username func() string
	Root     bool     // the process may build a lab
	LabDir   string   // where labs keep their state
	SSH      []string // the ssh program and its first arguments
	Binaries string   // folder with programs for hosts of other platforms, or empty
	Agents   Agents   // of the hub that conducts, or nil: plans that name agents are refused
}

// ThisHost returns the host of this process, with the system's ssh and no baseline. The
// program of the process must be soku if the plan has a lab, hosts by ssh or simultaneous
// trials.
func ThisHost() Host {
	return Host{
		Self: agent.Self{Executable: os.Executable, Make: exec.CommandContext}, Here: agent.Local{Version: version.String()},
		Open: func(name string) (fs.File, error) { return os.Open(name) }, Now: time.Now,
		Username: func() string {
			u, err := user.Current()
			if err != nil {
				return ""
			}
			return u.Username
		},
		Root: os.Geteuid() == 0, LabDir: lab.RunDir(func(string) string { return "" }), SSH: []string{"ssh"},
	}
}

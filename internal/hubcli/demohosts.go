package hubcli

import (
	"cmp"
	"context"
	"net"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"soku/internal/cli"
	"soku/internal/lab"
	"soku/internal/measure"
	"soku/internal/process"
	"soku/internal/web"
)

// demoHosts are the hosts on which the agents of a demo run.
type demoHosts struct {
	sys       *cli.System
	self      string         // this program
	lab       *lab.Lab       // nil: loopback
	listeners []net.Listener // of the hub on the hosts of the lab, which reach nothing else
}

// name is that of the emulated network, or "".
func (d *demoHosts) name() string {
	if d.lab == nil {
		return ""
	}
	return d.lab.Topology.Name
}

// close removes the network.
func (d *demoHosts) close(ctx context.Context) error {
	for _, l := range d.listeners {
		_ = l.Close() // by the hub already, if it served
	}
	if d.lab == nil {
		return nil
	}
	return d.lab.Down(ctx)
}

// An agent has endAgent to end when it is asked to, and its last endText bytes are told if it ends by itself.
const (
	endAgent = 10 * time.Second
	endText  = 4 << 10
)

// agent runs an agent until ctx ends. An error has kind broken: it ended by itself.
func (d *demoHosts) agent(ctx context.Context, name string, hub web.About, tokenFile, data string) error {
	args := []string{d.self, "agent", "--name", name, "--hub", hub.URL, "--pin", string(hub.Pin), "--join-file", tokenFile, "--state", filepath.Join(data, name)}
	var cmd *exec.Cmd
	if d.lab != nil {
		args[5] = "https://" + d.listeners[0].Addr().String()
		cmd = d.lab.Command(ctx, name, args...)
	} else {
		cmd = d.sys.Command(ctx, d.self, append(args[1:], "--address", "lo=127.0.0.1")...)
	}
	said := &process.Tail{Limit: endText}
	cmd.Stdout, cmd.Stderr = said, said
	group := process.NewGroup(cmd) // Ctrl-C is for this process, which ends its agents
	cmd.Cancel = func() error {
		if cmd.Process.Signal(syscall.SIGTERM) != nil { // on Windows
			return group.Kill()
		}
		return nil
	}
	cmd.WaitDelay = endAgent
	process.DieWithParent(cmd)
	runtime.LockOSThread() // see DieWithParent
	defer runtime.UnlockOSThread()
	err := group.Start()
	if err == nil {
		err = group.Wait()
	}
	if ctx.Err() != nil {
		return nil
	}
	cause := "" // somebody ended it in good order
	if err != nil {
		cause = cmp.Or(process.LastLine(string(said.Bytes())), err.Error())
	}
	return measure.Fail(measure.KindBroken, "hubcli.demo.agent", measure.Figures{"agent": name, "cause": cause})
}

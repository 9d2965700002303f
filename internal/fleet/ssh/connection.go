package ssh

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"soku/internal/measure"
	"soku/internal/process"
)

// Client is how ssh is started.
type Client struct {
	// Program is ssh and the arguments that come first, such as ssh -F FILE.
	Program []string
	// Make makes a process that dies with ctx, as exec.CommandContext.
	Make func(ctx context.Context, name string, args ...string) *exec.Cmd
}

// options are those of every session. They precede the person's configuration: nothing asks,
// a lost connection ends, and what the configuration forwards or runs for people is left out.
var options = []string{
	"-T", "-a", "-x",
	"-o", "BatchMode=yes", "-o", "ConnectTimeout=15", "-o", "ServerAliveInterval=10", "-o", "ServerAliveCountMax=3",
	"-o", "ClearAllForwardings=yes", "-o", "PermitLocalCommand=no", "-o", "RemoteCommand=none",
}

// maxSocket is how long the path of the folder of a socket may be: a socket's path has at most
// 104 bytes, to which ssh adds a random end of 17 while it opens it.
const maxSocket = 80

// connection is how the sessions with one destination are started.
type connection struct {
	Client
	destination string
	host        string // name or address that ssh connects to
	sockets     string // folder with the socket of the shared connection; empty: none of our own
}

// connect finds out what the configuration says about a destination. Nothing is sent. The
// caller calls remove.
func (c Client) connect(ctx context.Context, destination string) (*connection, error) {
	k := &connection{Client: c, destination: destination, host: HostOf(destination)}
	cmd := c.start(ctx, append(options[:len(options):len(options)], "-G", "--", destination))
	out, complaints := &bytes.Buffer{}, &process.Tail{Limit: 4 << 10}
	cmd.Stdout, cmd.Stderr = limited(out, 256<<10), complaints
	if err := process.NewGroup(cmd).Run(); err != nil {
		return nil, k.failure(ctx, complaints, err)
	}
	shared := false // by the configuration
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		switch key, value, _ := strings.Cut(lines.Text(), " "); {
		case key == "hostname" && value != "":
			k.host = value
		case key == "controlpath" && value != "none":
			shared = true
		}
	}
	if shared || runtime.GOOS == "windows" {
		return k, nil
	}
	if dir, err := os.MkdirTemp("", "soku-ssh-"); err == nil {
		if k.sockets = dir; len(dir) > maxSocket {
			k.remove()
		}
	}
	return k, nil
}

// remove deletes the folder of the socket.
func (k *connection) remove() {
	if k.sockets != "" {
		_ = os.RemoveAll(k.sockets)
		k.sockets = ""
	}
}

// first makes the session that opens the connection, which the others share. It ends when its
// input does, also if this process is killed: then the process that waits for it deletes the
// folder of the socket.
func (k *connection) first(ctx context.Context, command string) *exec.Cmd {
	args := k.arguments("yes", command)
	if k.sockets == "" {
		return k.start(ctx, args)
	}
	argv := append(k.Program[:len(k.Program):len(k.Program)], args...)
	return k.own(k.Make(ctx, "sh", append([]string{"-c", `"$@"; status=$?; rm -rf -- "$0"; exit $status`, k.sockets}, argv...)...))
}

// further makes a session of the connection that the first one opened.
func (k *connection) further(ctx context.Context, command string) *exec.Cmd {
	return k.start(ctx, k.arguments("no", command))
}

// arguments are those of a session that opens the shared connection ("yes") or uses it ("no").
func (k *connection) arguments(master, command string) []string {
	args := options[:len(options):len(options)]
	if k.sockets != "" {
		args = append(args, "-o", "ControlMaster="+master, "-o", "ControlPersist=no", "-o", "ControlPath="+filepath.Join(k.sockets, "socket"))
	}
	return append(args, "--", k.destination, command)
}

func (c Client) start(ctx context.Context, args []string) *exec.Cmd {
	return c.own(c.Make(ctx, c.Program[0], append(c.Program[1:len(c.Program):len(c.Program)], args...)...))
}

// own does not wait for what a process that it left behind writes.
func (Client) own(cmd *exec.Cmd) *exec.Cmd {
	cmd.WaitDelay = time.Second
	return cmd
}

// limited returns a writer of at most most bytes; a write beyond them is an error.
func limited(w io.Writer, most int) io.Writer { return &limitedWriter{w, most} }

type limitedWriter struct {
	to   io.Writer
	left int
}

var errTooMuch = errors.New("the output is too long")

func (l *limitedWriter) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, errTooMuch
	}
	return l.to.Write(p)
}

// failure is why ssh failed.
func (k *connection) failure(ctx context.Context, complaints *process.Tail, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		return measure.Fail(measure.KindUsage, "ssh.program", measure.Figures{"program": k.Program[0], "cause": err})
	}
	return explain(k.destination, string(complaints.Bytes()), err)
}

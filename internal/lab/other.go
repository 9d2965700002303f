//go:build !linux

package lab

import (
	"context"
	"io"
	"net"
	"os/exec"

	"soku/internal/measure"
)

// ServerPort is where the servers of a lab listen, TCP and UDP.
const ServerPort = 7658

func needsLinux() error {
	return measure.Fail(measure.KindPermission, "lab.needs_linux", nil)
}

// Up needs Linux.
func Up(context.Context, *Topology, Options) (*Lab, error) { return nil, needsLinux() }

// Open needs Linux.
func Open(string, Options) (*Lab, error) { return nil, needsLinux() }

// Down needs Linux.
func Down(context.Context, string, Options) error { return needsLinux() }

// Down needs Linux.
func (l *Lab) Down(context.Context) error { return needsLinux() }

func (p process) alive() bool { return false }

// Command needs Linux; the command it returns fails to start.
func (l *Lab) Command(ctx context.Context, host string, argv ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, l.options.Executable, argv...)
	cmd.Err = needsLinux()
	return cmd
}

// Become needs Linux.
func (l *Lab) Become(string, []string) error { return needsLinux() }

// Exec needs Linux.
func (l *Lab) Exec(context.Context, string, []string, io.Reader, io.Writer, io.Writer) error {
	return needsLinux()
}

// Listen needs Linux.
func (l *Lab) Listen(context.Context, string, string) (net.Listener, error) {
	return nil, needsLinux()
}

// Enter needs Linux.
func Enter(string, []string) error { return needsLinux() }

// DelayLine needs Linux.
func DelayLine(context.Context, string, func()) error { return needsLinux() }

package lab

import (
	"context"
	"io"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

// Become replaces this process by the command argv on a host of the lab, so that signals,
// terminal and exit status are the command's. It returns only on failure.
func (l *Lab) Become(host string, argv []string) error {
	if err := l.runnable(host, argv); err != nil {
		return err
	}
	return Enter(NamespaceName(l.Topology.Name, host), argv)
}

// Exec runs argv on a host of the lab as a child of this process that ends with
// ctx (SIGTERM, then SIGKILL) and with this process. Its failure is the error,
// an *exec.ExitError for a status other than 0.
func (l *Lab) Exec(ctx context.Context, host string, argv []string, stdin io.Reader, stdout, stderr io.Writer) error {
	if err := l.runnable(host, argv); err != nil {
		return err
	}
	cmd := l.Command(ctx, host, argv...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(unix.SIGTERM) }
	cmd.WaitDelay = stopTimeout
	return cmd.Run()
}

// runnable returns why argv cannot run on a host, or nil.
func (l *Lab) runnable(host string, argv []string) error {
	if l.Topology.Node(host) == nil {
		_, err := l.Topology.Address(host, "") // the error lists the hosts
		return err
	}
	if len(argv) == 0 {
		return measure.Fail(measure.KindUsage, "lab.no_command", measure.Figures{"host": host})
	}
	return nil
}

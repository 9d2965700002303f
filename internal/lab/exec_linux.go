package lab

import (
	"context"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

// Exec runs argv on a host of the lab. When the three streams are this
// process's own, the process becomes the command, so that signals, terminal
// and exit status are the command's, and Exec returns only on failure. Else
// the command is a child that ends with ctx (SIGTERM, then SIGKILL) and with this process;
// its failure is the error, an *exec.ExitError for a status other than 0.
func (l *Lab) Exec(ctx context.Context, host string, argv []string, stdin io.Reader, stdout, stderr io.Writer) error {
	if _, err := l.Topology.Address(host, ""); l.Topology.Node(host) == nil {
		return err
	}
	if len(argv) == 0 {
		return measure.Errorf(measure.KindUsage, "no command to run on %s", host)
	}
	if stdin == os.Stdin && stdout == os.Stdout && stderr == os.Stderr {
		return Enter(NamespaceName(l.Topology.Name, host), argv)
	}
	cmd := l.Command(ctx, host, argv...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(unix.SIGTERM) }
	cmd.WaitDelay = patience
	return cmd.Run()
}

package cli

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/text"
	"soku/internal/wire"
	"soku/internal/wire/native"
)

func newServerStatus(sys *System) *cobra.Command {
	var access accessFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status [HOST[:PORT]]",
		Short: "Show who measures against a running server and who waits",
		Long:  "Asks a running server of soku, on this host unless another is given.",
		Example: `  soku server status
  soku server status vm2 --token-file token --tls-ca cert.pem`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			address := thisHost
			if len(args) > 0 {
				address = args[0]
			}
			if _, _, err := net.SplitHostPort(address); err != nil {
				address = net.JoinHostPort(address, strconv.Itoa(option.DefaultPort))
			}
			return serverStatus(cmd.Context(), sys, address, &access, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	addAccess(cmd, access.add)
	return cmd
}

func serverStatus(ctx context.Context, sys *System, address string, access *accessFlags, asJSON bool) error {
	token, tlsConfig, err := access.read(sys)
	if err != nil {
		return err
	}
	ask := wire.Request{Options: option.Defaults(measure.TestTCP), Token: token, TLS: tlsConfig}
	info, err := native.Ask(ctx, address, ask)
	if err != nil {
		return err
	}
	queue, err := native.AskQueue(ctx, address, ask)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(sys.Stdout, struct {
			Server native.Info  `json:"server"`
			Queue  native.Queue `json:"queue"`
		}{info, queue})
	}
	fmt.Fprintln(sys.Stdout, sys.Catalogue.Sentence("server.status", text.Args{
		"Version": info.Version, "Address": address, "Running": len(queue.Running), "Waiting": len(queue.Waiting), "Exclusive": info.Limits.Exclusive,
	}))
	if rows := queueTable(sys.Catalogue, queue); len(rows) > 1 {
		PrintTable(sys.Stdout, rows)
	}
	return nil
}

// queueTable are the cells of the table of those who measure and wait, its head first.
func queueTable(c *text.Catalogue, q native.Queue) [][]string {
	rows := [][]string{c.Headings("head.client", "head.test", "head.state", "head.since", "head.rate")}
	for _, e := range slices.Concat(q.Running, q.Waiting) {
		rows = append(rows, []string{
			e.Client, string(e.Test), c.Sentence("server.state", text.Args{"Position": e.Position}),
			c.Sentence("server.since", text.Args{"Age": e.Age.Std().Round(time.Second)}), c.Sentence("server.rate", text.Args{"Rate": e.Rate}),
		})
	}
	return rows
}

// serverView draws on a terminal who measures and who waits, below the log of the server, which is
// written through it.
type serverView struct {
	sys  *System
	wake chan struct{} // has an element when the log has a line: the queue may have changed

	mu    sync.Mutex
	table terminalLines
}

func newServerView(sys *System) *serverView {
	return &serverView{sys: sys, wake: make(chan struct{}, 1), table: sys.stdoutLines()}
}

// Write implements io.Writer for the log.
func (v *serverView) Write(line []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.table.clear()
	select {
	case v.wake <- struct{}{}:
	default:
	}
	return v.sys.Stderr.Write(line)
}

// serverViewEvery is the time between two looks at the queue.
const serverViewEvery = time.Second

// start draws what queue returns once a second and after each line of the log until stop is called.
func (v *serverView) start(queue func() native.Queue) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(serverViewEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-v.wake:
			case <-done:
				v.show(nil)
				return
			}
			v.show(queueTable(v.sys.Catalogue, queue()))
		}
	}()
	return func() { close(done); <-ended }
}

// show draws a table below its head, if it has rows.
func (v *serverView) show(rows [][]string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(rows) < 2 {
		v.table.clear()
		return
	}
	makePrintable(rows)
	v.table.draw(text.Aligned(rows, rows[0]...))
}

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
	"soku/internal/printable"
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
		printTable(sys.Stdout, rows)
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
	table terminalTable
}

func newServerView(sys *System) *serverView {
	return &serverView{sys: sys, wake: make(chan struct{}, 1)}
}

// Write implements io.Writer for the log.
func (v *serverView) Write(line []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.table.clear(v.sys)
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

func (v *serverView) show(rows [][]string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.table.clear(v.sys)
	v.table.draw(v.sys, rows)
}

// terminalTable is a table at the bottom of a terminal.
type terminalTable struct{ lines int } // that stand there

// draw writes rows as far as the terminal has room, the first of them being the head.
func (t *terminalTable) draw(sys *System, rows [][]string) {
	if len(rows) < 2 {
		return
	}
	width, height := sys.StdoutWidth(), sys.StdoutHeight()
	if height <= 0 {
		height = usualHeight
	}
	makePrintable(rows)
	lines := text.Aligned(rows, rows[0]...)
	if room := max(height-1, 2); len(lines) > room {
		lines = append(lines[:room-1], sys.Catalogue.Sentence("live.more_lines", text.Args{"N": len(lines) - room + 1}))
	}
	var parts []any
	for _, line := range lines {
		parts = append(parts, terminal.Truncate(line, width-1, "…"), endLine, "\n")
	}
	printable.Draw(sys.Stdout, parts...)
	t.lines = len(lines)
}

// clear takes the table away.
func (t *terminalTable) clear(sys *System) {
	if t.lines > 0 {
		printable.Draw(sys.Stdout, printable.Sequence(fmt.Sprintf("\x1b[%dA\r", t.lines)), eraseBelow)
		t.lines = 0
	}
}

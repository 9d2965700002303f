package cli

import (
	"io"
	"slices"

	"github.com/spf13/cobra"

	"soku/internal/dropin/ntttcp"
	"soku/internal/version"
)

const ntttcpName = "ntttcp"

func newNtttcpCommand(sys *System) *cobra.Command {
	return &cobra.Command{
		Use:   "ntttcp [-r|-s] [options of ntttcp]",
		Short: "Drop-in replacement for ntttcp for Linux",
		Long: `Takes the options of ntttcp for Linux and prints what it prints, in text, XML
and JSON. The other end may be soku ntttcp or ntttcp itself. A link named ntttcp
to this program is the same command. soku ntttcp -h lists the options.`,
		Example: `  soku ntttcp -r -m 8,*,10.0.0.4           receive on 8 ports
  soku ntttcp -s -m 8,*,10.0.0.4 -t 30     send to them
  ln -s soku ntttcp && ./ntttcp -r`,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if slices.Equal(args, []string{"--help"}) { // ntttcp itself has only -h
				return cmd.Help()
			}
			o, notes, err := ntttcp.Parse(args)
			if err != nil {
				return err
			}
			if o.Help {
				_, err := io.WriteString(sys.Stdout, ntttcp.Usage)
				return err
			}
			if o.Daemon && !isDetached(sys) {
				return detach(sys, ntttcpName, args)
			}
			return ntttcp.Run(cmd.Context(), o, notes, ntttcp.Env{
				Stdout: sys.Stdout, Terminal: sys.StdoutWidth() > 0 && sys.Getenv("TERM") != "dumb", Now: sys.Now,
				WriteFile: sys.WriteFile, Append: sys.appendPrintable, Version: version.String(), Hostname: sys.Hostname(),
			})
		},
	}
}

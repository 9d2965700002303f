package cli

import (
	"context"
	"net"
	"strconv"

	"github.com/spf13/cobra"

	"soku/internal/engine/filecopy"
	"soku/internal/fleet/ssh"
	"soku/internal/measure"
	"soku/internal/printable"
	"soku/internal/server"
	"soku/internal/version"
)

// newEndpointCommand is the process that a campaign has on a host that it reaches by ssh; what
// passes between them is specified at ssh.Schema.
func newEndpointCommand(sys *System) *cobra.Command {
	return &cobra.Command{
		Use:    "endpoint",
		Short:  "Run what a campaign needs on this host until the input ends",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			e := ssh.Endpoint{Version: version.String(), Listen: listenFor, Silence: ssh.Silence}
			return e.Run(cmd.Context(), sys.Stdin, printable.Unfiltered(sys.Stdout))
		},
	}
}

// listenFor opens a server of soku alone on the first port that is free.
func listenFor(wish ssh.Serve) (port int, run func(context.Context) error, err error) {
	if wish.CopyRoot == "" {
		return listenWith(wish, nil)
	}
	root, err := filecopy.OpenRoot(wish.CopyRoot)
	if err != nil {
		return 0, nil, err
	}
	port, serve, err := listenWith(wish, root)
	if err != nil {
		_ = root.Close()
		return 0, nil, err
	}
	return port, func(ctx context.Context) error {
		defer func() { _ = root.Close() }()
		return serve(ctx)
	}, nil
}

// listenWith is listenFor with the folder of copies, or nil.
func listenWith(wish ssh.Serve, root *filecopy.Root) (port int, run func(context.Context) error, err error) {
	for _, port := range wish.Ports {
		var s *server.Server
		s, err = server.New(server.Config{
			Listen: net.JoinHostPort("", strconv.Itoa(port)), MaxClients: 1000, Token: wish.Token, CopyRoot: root, Version: version.String(),
		})
		if err == nil {
			return int(s.Addr().Port()), s.Serve, nil
		}
		if measure.AsError(err, measure.KindInternal).Code != "server.listen.in_use" {
			break
		}
	}
	return 0, nil, err
}

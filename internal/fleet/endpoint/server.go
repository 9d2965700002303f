package endpoint

import (
	"context"
	"net"
	"strconv"

	"soku/internal/measure"
	"soku/internal/server"
	"soku/internal/version"
)

// maxClients is how many tests the server runs simultaneously.
const maxClients = 1000

// Listen opens a server for soku's own protocol on the first port of a wish that is free. run
// serves until ctx ends.
func Listen(wish Server) (port int, run func(context.Context) error, err error) {
	cfg := server.Config{
		MaxClients: maxClients, Token: wish.Token, Version: version.String(),
		MaxRate: wish.MaxRate, MaxDuration: wish.MaxDuration, Allow: wish.Allow,
	}
	if wish.CopyRoot != "" {
		if err := cfg.OpenCopyRoot(wish.CopyRoot, 0); err != nil {
			return 0, nil, err
		}
	}
	s, err := firstFree(cfg, wish.Ports)
	if err != nil {
		cfg.CloseCopyRoot()
		return 0, nil, err
	}
	return int(s.Addr().Port()), func(ctx context.Context) error {
		defer cfg.CloseCopyRoot()
		return s.Serve(ctx)
	}, nil
}

// firstFree opens a server on the first of ports that is free.
func firstFree(cfg server.Config, ports []int) (s *server.Server, err error) {
	for _, port := range ports {
		cfg.Listen = net.JoinHostPort("", strconv.Itoa(port))
		s, err = server.New(cfg)
		if err == nil || measure.AsError(err, measure.KindInternal).Code != "server.listen.in_use" {
			break
		}
	}
	return s, err
}

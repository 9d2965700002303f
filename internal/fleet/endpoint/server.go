package endpoint

import (
	"context"
	"crypto/tls"
	"net"
	"strconv"
	"time"

	"soku/internal/certificate"
	"soku/internal/measure"
	"soku/internal/server"
	"soku/internal/version"
)

// maxClients is how many tests the server runs simultaneously.
const maxClients = 1000

// Listen opens a server for soku's own protocol on the first port of a wish that is free. run
// serves until ctx ends.
func Listen(wish Server) (at Listening, run func(context.Context) error, err error) {
	cfg := server.Config{
		MaxClients: maxClients, Access: server.WithToken(wish.Token), Version: version.String(),
		MaxRate: wish.MaxRate, MaxDuration: wish.MaxDuration, Allow: wish.Allow,
	}
	if wish.Grant != nil {
		cfg.Access = server.WithGrant(wish.Token, *wish.Grant, time.Now)
		if at.Certificate, err = certify(&cfg); err != nil {
			return at, nil, err
		}
	}
	if wish.CopyRoot != "" {
		if err := cfg.OpenCopyRoot(wish.CopyRoot, 0); err != nil {
			return at, nil, err
		}
	}
	s, err := firstFree(cfg, wish.Ports)
	if err != nil {
		cfg.CloseCopyRoot()
		return at, nil, err
	}
	at.Port = int(s.Addr().Port())
	return at, func(ctx context.Context) error {
		defer cfg.CloseCopyRoot()
		return s.Serve(ctx)
	}, nil
}

// certificateLasts is longer than any server runs. Clients trust the pin, whatever the clocks say.
const certificateLasts = 30 * 24 * time.Hour

// certify gives the server a certificate of its own, kept in memory. Agents of the version before do not know that it has
// one: as clients they are served without TLS.
func certify(cfg *server.Config) (certificate.Pin, error) {
	own, err := certificate.Make("soku agent", nil, time.Now(), certificateLasts)
	if err != nil {
		return "", measure.Fail(measure.KindInternal, "server.random", measure.Figures{"cause": err})
	}
	cfg.TLS, cfg.PlainToo = &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{own}}, true
	return certificate.PinOf(own.Certificate[0]), nil
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

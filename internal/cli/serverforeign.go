package cli

import (
	"net"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	dropin "soku/internal/dropin/iperf3"
	"soku/internal/measure"
	"soku/internal/server"
	serverethr "soku/internal/server/ethr"
	serveriperf3 "soku/internal/server/iperf3"
	"soku/internal/text"
	"soku/internal/version"
	"soku/internal/wire/ethr"
	"soku/internal/wire/iperf3"
)

// foreignFlags say how a server serves the clients of other tools.
type foreignFlags struct {
	iperf3     string
	ethr       string
	privateKey string
	users      string
	pkcs1      bool
}

const (
	foreignAuto = "auto"
	foreignOff  = "off"
)

func (f *foreignFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.iperf3, "iperf3", foreignAuto, "address and port for clients of iperf3: auto (port 5201 beside --listen, if it is free), off, or such as :5201; they may also use the port of --listen")
	flags.StringVar(&f.ethr, "ethr", foreignAuto, "address and port for clients of Ethr: auto (port 8888 beside --listen, if it is free), off, or such as :8888; over TCP they may also use the port of --listen. With --token-file they are not served, because they send no token")
	flags.StringVar(&f.privateKey, "rsa-private-key-file", "", "file with the RSA private key (PEM) for the authentication of iperf3's clients")
	flags.StringVar(&f.users, "authorized-users-file", "", "file of iperf3's users, one per line: user,sha256 of {user}password")
	flags.BoolVar(&f.pkcs1, "use-pkcs1-padding", false, "accept credentials with the padding of iperf3 before 3.17")
}

// read puts into cfg what the flags say.
func (f *foreignFlags) read(sys *System, listen string, cfg *server.Config) error {
	users, err := f.readUsers(sys)
	if err != nil {
		return err
	}
	own := serveriperf3.New(serveriperf3.Config{Users: users, Observer: dropin.ServerOutput(version.String(), sys.Now)})
	for _, p := range []struct {
		protocol server.Protocol
		flag     string
		port     int
	}{
		{serverethr.New(serverethr.Hooks{}), f.ethr, ethr.Port},
		{own, f.iperf3, iperf3.DefaultPort},
	} {
		flag := p.flag
		if p.protocol.Name() == measure.ViaEthr && cfg.Token != "" {
			if flag != foreignAuto && flag != foreignOff {
				return measure.Fail(measure.KindUsage, "cli.server.ethr_token", nil)
			}
			flag = foreignOff
		}
		at, err := foreignPort(p.protocol, flag, listen, p.port)
		if err != nil {
			return err
		}
		cfg.Foreign = append(cfg.Foreign, at)
	}
	return nil
}

// readUsers reads which clients of iperf3 are served; nil is all.
func (f *foreignFlags) readUsers(sys *System) (*iperf3.Guard, error) {
	if (f.privateKey == "") != (f.users == "") {
		return nil, measure.Fail(measure.KindUsage, "cli.server.iperf3_incomplete", nil)
	}
	if f.privateKey == "" {
		return nil, nil
	}
	text, err := sys.ReadFile(f.privateKey)
	if err != nil {
		return nil, measure.Fail(measure.KindUsage, "cli.server.iperf3_key_file", measure.Figures{"cause": err})
	}
	key, err := iperf3.ParsePrivateKey(text)
	if err != nil {
		return nil, measure.Fail(measure.KindFile, "cli.server.iperf3_key", measure.Figures{"file": f.privateKey, "cause": err})
	}
	text, err = sys.ReadFile(f.users)
	if err != nil {
		return nil, measure.Fail(measure.KindUsage, "cli.server.iperf3_users_file", measure.Figures{"cause": err})
	}
	users, err := iperf3.ParseUsers(text)
	if err != nil {
		return nil, measure.Fail(measure.KindFile, "cli.server.iperf3_users", measure.Figures{"file": f.users, "cause": err})
	}
	return &iperf3.Guard{Key: key, Users: users, PKCS1: f.pkcs1}, nil
}

// foreignPort gives a protocol a port of its own as the flag of its name says. auto is
// the protocol's usual port at the address that the server itself listens on; a
// server whose port the system picks has none, because it is somebody's for a moment.
func foreignPort(p server.Protocol, flag, listen string, port int) (server.Foreign, error) {
	f := server.Foreign{Protocol: p}
	switch {
	case flag == foreignOff:
	case flag == foreignAuto:
		host, own, err := net.SplitHostPort(listen)
		if err == nil && own != "0" && own != strconv.Itoa(port) { // opening the server's port reports a wrong address
			f.Listen, f.Optional = net.JoinHostPort(host, strconv.Itoa(port)), true
		}
	case !strings.Contains(flag, ":") || strings.HasSuffix(flag, ":"):
		return f, measure.Fail(measure.KindUsage, "cli.server.protocol_port", measure.Figures{"protocol": p.Name(), "address": flag, "port": port})
	default:
		f.Listen = flag
	}
	return f, nil
}

// foreignPorts are the ports of other protocols, each with the protocol's name.
func foreignPorts(c *text.Catalogue, s *server.Server) []string {
	var out []string
	for _, protocol := range []string{measure.ViaIperf3, measure.ViaEthr} {
		if at, ok := s.ForeignAddr(protocol); ok {
			out = append(out, c.Sentence("server.foreign", text.Args{"Protocol": protocol, "Address": at}))
		}
	}
	return out
}

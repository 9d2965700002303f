package cli

import (
	"net"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"soku/internal/measure"
	"soku/internal/server"
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
	flags.StringVar(&f.iperf3, "iperf3", foreignAuto, "address and port for clients of iperf3: auto (port 5201 beside --listen, if it is free), off, or such as :5201; they may also come to the port of --listen")
	flags.StringVar(&f.ethr, "ethr", foreignAuto, "address and port for clients of Ethr: auto (port 8888 beside --listen, if it is free), off, or such as :8888; over TCP they may also come to the port of --listen. None are served with --token-file, which they do not know")
	flags.StringVar(&f.privateKey, "rsa-private-key-file", "", "file with the RSA key (PEM) that clients of iperf3 prove their user to")
	flags.StringVar(&f.users, "authorized-users-file", "", "file of users of iperf3, a line each: user,sha256 of {user}password")
	flags.BoolVar(&f.pkcs1, "use-pkcs1-padding", false, "take users as iperf3 before 3.17 proves them")
}

// read puts into cfg what the flags say.
func (f *foreignFlags) read(sys *System, listen string, cfg *server.Config) error {
	if err := addForeign(measure.ViaIperf3, f.iperf3, listen, iperf3.DefaultPort, cfg); err != nil {
		return err
	}
	switch {
	case cfg.Token == "":
		if err := addForeign(measure.ViaEthr, f.ethr, listen, ethr.Port, cfg); err != nil {
			return err
		}
	case f.ethr != foreignAuto && f.ethr != foreignOff:
		return measure.Errorf(measure.KindUsage, "--ethr and --token-file exclude each other: clients of Ethr know no token").WithHint("leave out one of them")
	}
	if (f.privateKey == "") != (f.users == "") {
		return measure.Errorf(measure.KindUsage, "clients of iperf3 are known by a key and a file of users, and one of them is missing").
			WithHint("give --rsa-private-key-file and --authorized-users-file")
	}
	if f.privateKey == "" {
		return nil
	}
	text, err := sys.ReadFile(f.privateKey)
	if err != nil {
		return measure.Errorf(measure.KindUsage, "read the key for clients of iperf3: %w", err).WithHint("check --rsa-private-key-file")
	}
	key, err := iperf3.ParsePrivateKey(text)
	if err != nil {
		return measure.Errorf(measure.KindFile, "read the key for clients of iperf3 in %s: %w", f.privateKey, err).WithHint("openssl genrsa -out private.pem 2048 makes one")
	}
	text, err = sys.ReadFile(f.users)
	if err != nil {
		return measure.Errorf(measure.KindUsage, "read the users of iperf3: %w", err).WithHint("check --authorized-users-file")
	}
	users, err := iperf3.ParseUsers(text)
	if err != nil {
		return measure.Errorf(measure.KindFile, "read the users of iperf3 in %s: %w", f.users, err).WithHint(`a line is user,hash with the hash of: echo -n "{user}password" | sha256sum`)
	}
	cfg.Users = &iperf3.Guard{Key: key, Users: users, PKCS1: f.pkcs1}
	return nil
}

// addForeign gives a protocol a port of its own as the flag of its name says. auto is
// the protocol's usual port at the address that the server itself listens on; a
// server whose port the system picks has none, because it is somebody's for a moment.
func addForeign(protocol, flag, listen string, port int, cfg *server.Config) error {
	switch {
	case flag == foreignOff:
		return nil
	case flag == foreignAuto:
		host, own, err := net.SplitHostPort(listen)
		if err != nil || own == "0" || own == strconv.Itoa(port) {
			return nil //nolint:nilerr // which opening that port will tell
		}
		cfg.Foreign = append(cfg.Foreign, server.Foreign{Protocol: protocol, Listen: net.JoinHostPort(host, strconv.Itoa(port)), Optional: true})
		return nil
	case !strings.Contains(flag, ":") || strings.HasSuffix(flag, ":"):
		return measure.Errorf(measure.KindUsage, "--%s %q names no port", protocol, flag).WithHint("write auto, off, or for example :%d", port)
	}
	cfg.Foreign = append(cfg.Foreign, server.Foreign{Protocol: protocol, Listen: flag})
	return nil
}

// foreignText says where the clients of other tools find the server.
func foreignText(s *server.Server) string {
	text := ""
	for _, protocol := range []string{measure.ViaIperf3, measure.ViaEthr} {
		if at, ok := s.ForeignAddr(protocol); ok {
			text += ", " + protocol + " on " + at.String()
		}
	}
	return text
}

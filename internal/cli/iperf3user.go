package cli

import (
	"strings"

	"github.com/spf13/pflag"

	"soku/internal/measure"
	"soku/internal/version"
	"soku/internal/wire"
	"soku/internal/wire/iperf3"
)

// iperf3User says who a client of an iperf3 server is, where the server asks.
type iperf3User struct {
	user         string
	passwordFile string
	keyFile      string
	pkcs1        bool
}

func (u *iperf3User) add(flags *pflag.FlagSet) {
	flags.StringVar(&u.user, "user", "", "with --via iperf3: the user, where the server asks for one")
	flags.StringVar(&u.passwordFile, "password-file", "", "with --user: file with the password")
	flags.StringVar(&u.keyFile, "rsa-public-key-file", "", "with --user: file with the server's public key (PEM)")
	flags.BoolVar(&u.pkcs1, "use-pkcs1-padding", false, "with --user: for a server of iperf3 before 3.17")
}

// read returns what to ask of an iperf3 server beside the options.
func (u *iperf3User) read(sys *System, via string) (wire.IPerf3, error) {
	x := wire.IPerf3{ClientVersion: "soku " + version.String()}
	given := u.user != "" || u.passwordFile != "" || u.keyFile != "" || u.pkcs1
	switch {
	case !given:
		return x, nil
	case via != measure.ViaIperf3:
		return x, measure.Errorf(measure.KindUsage, "only servers of iperf3 have users").WithHint("add --via iperf3; a soku server has --token-file")
	case u.user == "" || u.passwordFile == "" || u.keyFile == "":
		return x, measure.Errorf(measure.KindUsage, "a user of an iperf3 server has a name, a password and the server's public key").
			WithHint("give --user, --password-file and --rsa-public-key-file")
	}
	password, err := sys.ReadFile(u.passwordFile)
	if err != nil {
		return x, measure.Errorf(measure.KindUsage, "read the password: %w", err).WithHint("check --password-file")
	}
	text, err := sys.ReadFile(u.keyFile)
	if err != nil {
		return x, measure.Errorf(measure.KindUsage, "read the server's public key: %w", err).WithHint("check --rsa-public-key-file")
	}
	if x.Key, err = iperf3.ParsePublicKey(text); err != nil {
		return x, measure.Errorf(measure.KindFile, "read the server's public key in %s: %w", u.keyFile, err).WithHint("openssl rsa -in private.pem -pubout makes it from the server's key")
	}
	x.User, x.Password, x.PKCS1 = u.user, strings.TrimRight(string(password), "\r\n"), u.pkcs1
	return x, nil
}

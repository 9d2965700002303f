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

// read returns what to ask of an iperf3 server that is no option of the test.
func (u *iperf3User) read(sys *System, via string) (wire.IPerf3, error) {
	x := wire.IPerf3{ClientVersion: "soku " + version.String()}
	given := u.user != "" || u.passwordFile != "" || u.keyFile != "" || u.pkcs1
	switch {
	case !given:
		return x, nil
	case via != measure.ViaIperf3:
		return x, measure.Fail(measure.KindUsage, "cli.iperf3_user.other_server", nil)
	case u.user == "" || u.passwordFile == "" || u.keyFile == "":
		return x, measure.Fail(measure.KindUsage, "cli.iperf3_user.incomplete", nil)
	}
	password, err := sys.ReadFile(u.passwordFile)
	if err != nil {
		return x, measure.Fail(measure.KindUsage, "cli.iperf3_user.password_file", measure.Figures{"cause": err})
	}
	text, err := sys.ReadFile(u.keyFile)
	if err != nil {
		return x, measure.Fail(measure.KindUsage, "cli.iperf3_user.key_file", measure.Figures{"cause": err})
	}
	if x.Key, err = iperf3.ParsePublicKey(text); err != nil {
		return x, measure.Fail(measure.KindFile, "cli.iperf3_user.key", measure.Figures{"file": u.keyFile, "cause": err})
	}
	x.User, x.Password, x.PKCS1 = u.user, strings.TrimRight(string(password), "\r\n"), u.pkcs1
	return x, nil
}

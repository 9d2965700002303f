package iperf3

import (
	"fmt"
	"strings"

	"soku/internal/measure"
)

// problem is an error of the command line in iperf3's wording, or close to it.
func problem(format string, args ...any) *measure.Error {
	return measure.TextError(measure.KindUsage, fmt.Sprintf(format, args...), "")
}

// fail is an error of the command line that iperf3 does not have.
func fail(code string, figures measure.Figures) error {
	return measure.Fail(measure.KindUsage, code, figures)
}

// unrecognized is an option that iperf3 does not have either; it is reported without
// "parameter error", as getopt does.
type unrecognized struct{ wrong *measure.Error }

func (u unrecognized) Error() string { return u.wrong.Error() }
func (u unrecognized) Unwrap() error { return u.wrong }

// Parse reads a command line without the program's name, as getopt_long(3) does:
// short options may be joined (-uR, -P4), long options abbreviated if unambiguous
// (--rev), and arguments follow after a space or "=". An error has kind usage.
func Parse(args []string) (*Settings, error) {
	s := defaults()
	p := &parser{s: s, all: options(), given: map[string]bool{}}
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		var err error
		switch {
		case word == "--":
			if len(args) > 0 {
				return nil, stray(args[0])
			}
		case strings.HasPrefix(word, "--"):
			args, err = p.long(word[2:], args)
		case strings.HasPrefix(word, "-") && len(word) > 1:
			args, err = p.shorts(word[1:], args)
		default:
			return nil, stray(word)
		}
		if err != nil {
			return nil, err
		}
	}
	if s.ShowHelp || s.ShowVersion {
		return s, nil
	}
	return s, p.check()
}

func stray(word string) error {
	return fail("iperf3.option.stray", measure.Figures{"text": word})
}

type parser struct {
	s     *Settings
	all   []flagOption
	given map[string]bool // long names
	sided [3]string       // how the first option of each side was written
}

// long takes one long option; what is its text without the dashes.
func (p *parser) long(what string, rest []string) ([]string, error) {
	name, value, attached := strings.Cut(what, "=")
	o, err := p.find(name)
	if err != nil {
		return nil, err
	}
	switch {
	case o.arg == "" && attached:
		return nil, unrecognized{problem("option '--%s' doesn't allow an argument", o.long)}
	case o.arg == "" || strings.HasPrefix(o.arg, "[") || attached:
		return rest, p.take(o, "--"+o.long, value)
	case len(rest) == 0:
		return nil, unrecognized{problem("option '--%s' requires an argument", o.long)}
	}
	return rest[1:], p.take(o, "--"+o.long, rest[0])
}

// find is the long option of that name, or the only one that begins with it.
func (p *parser) find(name string) (flagOption, error) {
	var near []flagOption
	for _, o := range p.all {
		if o.long == name {
			return o, nil
		}
		if name != "" && strings.HasPrefix(o.long, name) {
			near = append(near, o)
		}
	}
	switch len(near) {
	case 0:
		return flagOption{}, unrecognized{problem("unrecognized option '--%s'", name)}
	case 1:
		return near[0], nil
	}
	var names []string
	for _, o := range near {
		names = append(names, "'--"+o.long+"'")
	}
	return flagOption{}, unrecognized{problem("option '--%s' is ambiguous; possibilities: %s", name, strings.Join(names, " "))}
}

// shorts takes the letters of one argument.
func (p *parser) shorts(letters string, rest []string) ([]string, error) {
	for i, letter := range letters {
		o, ok := p.letter(string(letter))
		if !ok {
			return nil, unrecognized{problem("invalid option -- '%c'", letter)}
		}
		after := letters[i+len(string(letter)):]
		switch {
		case o.arg == "" || strings.HasPrefix(o.arg, "["): // a short option has no argument that may be left out
			if err := p.take(o, "-"+o.short, ""); err != nil {
				return nil, err
			}
		case after != "":
			return rest, p.take(o, "-"+o.short, after)
		case len(rest) == 0:
			return nil, unrecognized{problem("option requires an argument -- '%s'", o.short)}
		default:
			return rest[1:], p.take(o, "-"+o.short, rest[0])
		}
	}
	return rest, nil
}

func (p *parser) letter(letter string) (flagOption, bool) {
	for _, o := range p.all {
		if o.short == letter {
			return o, true
		}
	}
	return flagOption{}, false
}

// take sets one option that was given as name.
func (p *parser) take(o flagOption, name, value string) error {
	p.given[o.long] = true
	if o.side < infoOnly && p.sided[o.side] == "" {
		p.sided[o.side] = name
	}
	if o.set == nil {
		return fail(o.refusal, measure.Figures{"option": name})
	}
	return o.set(p.s, value)
}

// check finds options that exclude each other, in iperf3's order.
func (p *parser) check() error {
	s := p.s
	switch {
	case s.Role == Client && p.sided[serverOnly] != "":
		return problem("some option you are trying to set is server only").WithHintCode("iperf3.option.which", measure.Figures{"option": p.sided[serverOnly]})
	case s.Role == Server && p.sided[clientOnly] != "":
		return problem("some option you are trying to set is client only").WithHintCode("iperf3.option.which", measure.Figures{"option": p.sided[clientOnly]})
	case (s.Username == "") != (s.PublicKey == ""):
		return problem("you must specify a username, password, and path to a valid RSA public key")
	case s.Role == Client && p.given["rcv-timeout"] && !s.Reverse && !s.Bidir:
		return problem("client receive timeout is valid only in receiving mode")
	case (s.PrivateKey == "") != (s.Users == ""):
		return problem("you must specify a path to a valid RSA private key and a user credential file")
	case s.ServerAffinity >= 0 && s.Role == Server:
		return problem("some option you are trying to set is client only").WithHintCode("iperf3.option.second_processor", nil)
	case s.Multipath && s.UDP:
		return fail("iperf3.option.mptcp_udp", nil)
	case s.DontFragment && !s.UDP && s.Role == Client:
		return fail("iperf3.option.dont_fragment_tcp", nil)
	case s.File != "" && s.UDP:
		return problem("cannot transfer file using UDP")
	case s.File != "" && s.Bidir:
		return fail("iperf3.option.file_bidir", nil)
	case s.GSRO && !s.UDP && s.Role == Client:
		return fail("iperf3.option.gsro_tcp", nil)
	case !s.UDP && (s.Length < 0 || s.Length > mostBlock):
		return problem("block size too large (maximum = %d bytes)", mostBlock)
	case s.UDP && s.Length != 0 && (s.Length < fewestDatagram || s.Length > mostDatagram):
		return problem("block size invalid (minimum = %d bytes, maximum = %d bytes)", fewestDatagram, mostDatagram)
	case p.given["time"] && s.Bytes != 0, p.given["time"] && s.Blocks != 0, s.Bytes != 0 && s.Blocks != 0:
		return problem("only one test end condition (-t, -n, -k) may be specified")
	case s.Role == "":
		return problem("must either be a client (-c) or server (-s)")
	}
	if (s.Bytes != 0 || s.Blocks != 0) && !p.given["time"] {
		s.Time = 0
	}
	if !s.UDP && s.Length == 0 {
		s.Length = usualBlock
	}
	if s.UDP && !p.given["bitrate"] && !p.given["bandwidth"] {
		s.Rate = usualUDPRate
	}
	return nil
}

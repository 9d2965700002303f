package ntttcp

import (
	"math"
	"strconv"
	"strings"

	"soku/internal/measure"
)

// takes is the kind of an option's argument.
type takes int

const (
	nothing takes = iota
	value
	perhaps // attached to the letter, or the next argument unless it begins with a dash
)

// flagOption is one of the command line.
type flagOption struct {
	name  string // a letter, or a word
	takes takes
	set   func(o *Options, v string) error
}

// options are all options of ntttcp.
func options() []flagOption {
	flag := func(name string, field func(*Options) *bool) flagOption {
		return flagOption{name, nothing, func(o *Options, _ string) error { *field(o) = true; return nil }}
	}
	number := func(name string, field func(*Options) *int, most int) flagOption {
		return flagOption{name, value, func(o *Options, v string) (err error) { *field(o), err = whole(v, most); return err }}
	}
	file := func(name, usual string, field func(*Options) *string) flagOption {
		return flagOption{name, perhaps, func(o *Options, v string) error {
			if *field(o) = v; v == "" {
				*field(o) = usual
			}
			return nil
		}}
	}
	role := func(name string, field func(*Options) *bool) flagOption {
		return flagOption{name, perhaps, func(o *Options, v string) error {
			*field(o) = true
			if v != "" {
				o.Address = v
			}
			return nil
		}}
	}
	return []flagOption{
		role("r", func(o *Options) *bool { return &o.Receiver }),
		role("s", func(o *Options) *bool { return &o.Sender }),
		flag("D", func(o *Options) *bool { return &o.Daemon }),
		flag("M", func(o *Options) *bool { return &o.Multi }),
		flag("L", func(o *Options) *bool { return &o.Last }),
		flag("e", func(o *Options) *bool { return &o.Epoll }),
		flag("H", func(o *Options) *bool { return &o.Hold }),
		{"m", value, (*Options).mapping},
		number("P", func(o *Options) *int { return &o.Ports }, math.MaxInt32),
		{"a", value, func(o *Options, v string) error { o.Source = v; return nil }},
		number("n", func(o *Options) *int { return &o.Threads }, math.MaxInt32),
		number("l", func(o *Options) *int { return &o.Connections }, math.MaxInt32),
		flag("6", func(o *Options) *bool { return &o.IPv6 }),
		flag("u", func(o *Options) *bool { return &o.UDP }),
		number("p", func(o *Options) *int { return &o.Port }, 65535),
		{"f", perhaps, (*Options).sourcePort},
		{"b", value, func(o *Options, v string) error {
			n, err := scaled(v, 1024)
			o.Buffer = int(min(n, math.MaxInt32))
			return err
		}},
		{"B", value, func(o *Options, v string) (err error) { o.Bandwidth, err = scaled(v, 1000); return err }},
		number("W", func(o *Options) *int { return &o.Warmup }, secondsMost),
		number("t", func(o *Options) *int { return &o.Duration }, secondsMost),
		number("C", func(o *Options) *int { return &o.Cooldown }, secondsMost),
		flag("N", func(o *Options) *bool { return &o.NoSync }),
		file("O", usualConsole, func(o *Options) *string { return &o.ConsoleFile }),
		file("x", usualXML, func(o *Options) *string { return &o.XMLFile }),
		file("j", usualJSON, func(o *Options) *string { return &o.JSONFile }),
		flag("Q", func(o *Options) *bool { return &o.Quiet }),
		flag("V", func(o *Options) *bool { return &o.Verbose }),
		flag("h", func(o *Options) *bool { return &o.Help }),
		flag("show-tcp-retrans", func(o *Options) *bool { return &o.ShowRetransmits }),
		{"show-nic-packets", value, func(o *Options, v string) error { o.ShowPackets = v; return nil }},
		{"show-dev-interrupts", value, func(o *Options, v string) error { o.ShowInterrupts = v; return nil }},
		{"fq-rate-limit", value, func(o *Options, v string) (err error) { o.FQRate, err = scaled(v, 1000); return err }},
		flag("no-delay", func(o *Options) *bool { return &o.NoDelay }),
	}
}

// Parse reads a command line without the program's name, as getopt_long(3) does:
// letters may be joined (-VN, -P4), long options abbreviated if unambiguous, and values
// follow after a space, or after "=" for a long option. Words that belong to no option are
// ignored as there: scripts give --show-dev-interrupts a name of several words without
// quotes. Notes have one line per adjusted value and one for the ignored words. Errors are
// of kind usage.
func Parse(args []string) (o *Options, notes []string, err error) {
	o = defaults()
	all := options()
	var stray []string
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		switch {
		case word == "--":
			stray, args = append(stray, args...), nil
		case strings.HasPrefix(word, "--"):
			args, err = o.word(all, word[2:], args)
		case strings.HasPrefix(word, "-") && len(word) > 1:
			args, err = o.letters(all, word[1:], args)
		default:
			stray = append(stray, word)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if o.Help {
		return o, nil, nil
	}
	if len(stray) > 0 {
		notes = append(notes, "ignore what belongs to no option: "+strings.Join(stray, " "))
	}
	adjusted, err := o.check()
	return o, append(notes, adjusted...), err
}

// word sets a long option.
func (o *Options) word(all []flagOption, text string, args []string) ([]string, error) {
	name, v, has := strings.Cut(text, "=")
	var found *flagOption
	for i := range all {
		switch n := all[i].name; {
		case len(n) == 1:
		case n == name:
			found = &all[i]
		case strings.HasPrefix(n, name) && found != nil && found.name != name:
			return nil, fail("ntttcp.option.ambiguous", measure.Figures{"text": name, "first": found.name, "second": n})
		case strings.HasPrefix(n, name) && found == nil:
			found = &all[i]
		}
	}
	switch {
	case found == nil:
		return nil, fail("ntttcp.option.unknown", measure.Figures{"option": "--" + name})
	case found.takes == nothing && has:
		return nil, fail("ntttcp.option.no_value", measure.Figures{"option": "--" + found.name})
	case found.takes == value && !has:
		if len(args) == 0 {
			return nil, fail("ntttcp.option.wants_value", measure.Figures{"option": "--" + found.name})
		}
		v, args = args[0], args[1:]
	}
	return args, named("--"+found.name, found.set(o, v))
}

// letters sets joined short options; the last may have a value.
func (o *Options) letters(all []flagOption, text string, args []string) ([]string, error) {
	for i, letter := range text {
		var found *flagOption
		for k := range all {
			if all[k].name == string(letter) {
				found = &all[k]
			}
		}
		if found == nil {
			return nil, fail("ntttcp.option.unknown", measure.Figures{"option": "-" + string(letter)})
		}
		v := ""
		if found.takes != nothing {
			v = text[i+len(string(letter)):]
			switch {
			case v != "":
			case found.takes == value && len(args) == 0:
				return nil, fail("ntttcp.option.wants_value", measure.Figures{"option": "-" + string(letter)})
			case found.takes == value, len(args) > 0 && args[0] != "" && args[0][0] != '-':
				v, args = args[0], args[1:]
			}
		}
		if err := named("-"+found.name, found.set(o, v)); err != nil {
			return nil, err
		}
		if found.takes != nothing {
			break
		}
	}
	return args, nil
}

// named is the failure of an option whose value is invalid.
func named(name string, err error) error {
	if err == nil {
		return nil
	}
	return fail("ntttcp.option.value", measure.Figures{"option": name, "cause": err})
}

// mapping is -m PORTS,PROCESSOR,ADDRESS; the last may be omitted.
func (o *Options) mapping(v string) (err error) {
	parts := strings.Split(v, ",")
	if len(parts) > 3 {
		return fail("ntttcp.option.mapping", measure.Figures{"text": v})
	}
	if o.Ports, err = whole(parts[0], math.MaxInt32); err != nil {
		return err
	}
	if o.Ports < 1 {
		return fail("ntttcp.option.mapping_no_ports", measure.Figures{"text": v})
	}
	o.Threads = 1
	if len(parts) > 1 && parts[1] != "*" {
		if o.CPU, err = whole(parts[1], 1<<16); err != nil {
			return err
		}
	}
	if len(parts) > 2 {
		o.Address = parts[2]
	}
	return nil
}

func (o *Options) sourcePort(v string) (err error) {
	if v == "" {
		o.SourcePort = usualSource
		return nil
	}
	o.SourcePort, err = whole(v, 65535)
	return err
}

// whole reads a number from 0 to most.
func whole(v string, most int) (int, error) {
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 || n > most {
		return 0, fail("ntttcp.option.whole", measure.Figures{"text": v, "most": most})
	}
	return n, nil
}

// scaled reads a number with a suffix K, M or G, which are powers of k.
func scaled(v string, k float64) (int64, error) {
	digits, factor := v, 1.0
	if v != "" {
		power := strings.IndexByte("KMG", v[len(v)-1]&^0x20)
		if power >= 0 {
			digits, factor = v[:len(v)-1], math.Pow(k, float64(power+1))
		}
	}
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || n < 0 || n*factor >= 1<<53 || strings.ContainsAny(digits, "xXpP_iInN") {
		return 0, fail("ntttcp.option.scaled", measure.Figures{"text": v})
	}
	return int64(n * factor), nil
}

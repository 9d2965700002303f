package daemon

import (
	"net/netip"
	"strconv"

	"soku/internal/measure"
	"soku/internal/yamlfile"
)

// policyFile is the file of a policy. Its tags are the only declaration of its keys.
type policyFile struct {
	Tests       []string         `yaml:"tests"`
	Rate        measure.Rate     `yaml:"rate"`
	Duration    measure.Duration `yaml:"duration"`
	BytesPerDay measure.Size     `yaml:"bytes_a_day"`
	To          []string         `yaml:"to"`
	Copies      bool             `yaml:"copies"`
	Commands    bool             `yaml:"commands"`
	Spool       measure.Size     `yaml:"spool"`
}

var policyFormat = yamlfile.Format{MaxBytes: 64 << 10}

// ParsePolicy reads a policy; file is its path, for messages. An error has kind file and begins with
// FILE:LINE:COLUMN.
func ParsePolicy(file string, text []byte) (Policy, error) {
	f, err := yamlfile.Parse(file, text, policyFormat)
	if err != nil {
		return Policy{}, err
	}
	var read policyFile
	if !f.Root.IsNull() {
		if err := f.Decode(f.Root, &read, ""); err != nil {
			return Policy{}, err
		}
	}
	p := Policy{
		Rate: read.Rate, Duration: read.Duration, BytesPerDay: read.BytesPerDay, Copies: read.Copies, Commands: read.Commands, Spool: read.Spool,
	}
	for i, name := range read.Tests {
		test, err := measure.ParseTest(name)
		if err != nil {
			return Policy{}, f.LocateAt(yamlfile.Join("tests", strconv.Itoa(i+1)), err)
		}
		p.Tests = append(p.Tests, test)
	}
	for i, text := range read.To {
		network, err := parseNetwork(text)
		if err != nil {
			return Policy{}, f.LocateAt(yamlfile.Join("to", strconv.Itoa(i+1)), err)
		}
		p.To = append(p.To, network)
	}
	return p, nil
}

// parseNetwork reads a network in CIDR form, or one address.
func parseNetwork(text string) (netip.Prefix, error) {
	if n, err := netip.ParsePrefix(text); err == nil {
		return n.Masked(), nil
	}
	if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	return netip.Prefix{}, measure.Fail(measure.KindFile, "daemon.policy.network", measure.Figures{"network": text})
}

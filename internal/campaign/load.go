package campaign

import (
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"soku/internal/measure"
	_ "soku/internal/tests" // plans name tests and their options
	"soku/internal/yamlfile"
)

// Values of keys that a plan leaves out.
const (
	DefaultRepeats = 1
	DefaultRounds  = 3
	DefaultLimit   = measure.Duration(time.Hour)
)

// format is that of a plan's file.
var format = yamlfile.Format{MaxBytes: 64 << 10, Begin: "campaign: NAME"}

// Bounds of what a plan may ask for.
const (
	maxPatterns = 10_000
	maxTrials   = 1_000_000
	maxFactors  = 20
	maxLevels   = 1000
	maxName     = 100 // characters of a name or level
)

// Load reads and checks the plan in a file; read is usually os.ReadFile. Errors
// are of kind file and begin with FILE:LINE:COLUMN, or say that the file cannot
// be read.
func Load(path string, read func(string) ([]byte, error)) (*Plan, error) {
	text, err := read(path)
	if err != nil {
		return nil, measure.Errorf(measure.KindFile, "read the plan: %w", err).WithHint("give the plan's file, for example: soku run plan.yaml")
	}
	return Parse(path, text)
}

// Parse checks the text of a plan; file is its path, for messages and for what
// the plan names relative to it.
func Parse(file string, text []byte) (*Plan, error) {
	d, err := yamlfile.Parse(file, text, format)
	if err != nil {
		return nil, err
	}
	p := &Plan{File: file, Text: text}
	if err := d.Decode(d.Root, p, ""); err != nil {
		return nil, err
	}
	if p.Repeats == 0 {
		p.Repeats = DefaultRepeats
	}
	if p.Rounds == 0 {
		p.Rounds = DefaultRounds
	}
	if p.Limit == 0 {
		p.Limit = DefaultLimit
	}
	for _, check := range []func(*yamlfile.File) error{p.checkNames, p.checkEndpoints, p.checkFactors, p.checkSelections, p.makePatterns} {
		if err := check(d); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Dir is the folder of the plan's file: its commands run there and paths in it
// are relative to it.
func (p *Plan) Dir() string { return filepath.Dir(p.File) }

// LabFile is the path of the topology, or empty.
func (p *Plan) LabFile() string {
	if p.Lab == "" || filepath.IsAbs(p.Lab) {
		return p.Lab
	}
	return filepath.Join(p.Dir(), p.Lab)
}

// isCampaignName reports whether text can name a campaign and its files.
func isCampaignName(text string) bool { return isName(text, "._-") }

// isEndpointName reports whether text can name an endpoint or an address of one. It has
// no dot, which separates the two in a reference.
func isEndpointName(text string) bool { return isName(text, "_-") }

// isName reports whether text has 1 to 64 characters, a letter or digit of any script
// first and after that also combining marks and those of punctuation.
func isName(text, punctuation string) bool {
	for i, r := range text {
		first := unicode.IsLetter(r) || unicode.IsNumber(r)
		if !first && (i == 0 || !unicode.IsMark(r) && !strings.ContainsRune(punctuation, r)) {
			return false
		}
	}
	n := utf8.RuneCountInString(text)
	return n >= 1 && n <= 64
}

// hostCharacters are those of a host's name or an IP address with its zone.
var hostCharacters = regexp.MustCompile(`^[A-Za-z0-9.:%_-]+$`)

func isHost(text string) bool { return len(text) <= 255 && hostCharacters.MatchString(text) }

const nameHint = "letters, digits, dashes and underscores, at most 64"

func (p *Plan) checkNames(d *yamlfile.File) error {
	switch {
	case p.Campaign == "":
		return d.Errorf(yamlfile.Start, "add campaign: NAME", "the plan has no name")
	case !isCampaignName(p.Campaign):
		return d.ErrorAt("campaign", nameHint+"; what people read is title:", "%q cannot name a campaign", yamlfile.Shorten(p.Campaign))
	case len(p.Tests) == 0:
		return d.ErrorAt("tests", "add for example tests: {throughput: {test: tcp, duration: 10s}}", "the plan has no tests")
	case len(p.Shell) > 0 && p.Shell[0] == "":
		return d.ErrorAt("shell", "write for example [powershell, -Command]", "shell: the program is empty")
	}
	for _, label := range p.Tests.Names() {
		if hint := printable(label); hint != "" {
			return d.ErrorAt("tests."+label, hint, "%q cannot be the label of a test", yamlfile.Shorten(label))
		}
	}
	return nil
}

func (p *Plan) checkEndpoints(d *yamlfile.File) error {
	for _, e := range p.Endpoints {
		path := "endpoints." + e.Name
		ep := e.Value
		switch {
		case !isEndpointName(e.Name):
			return d.ErrorAt(path, nameHint+"; endpoint.label names one of its addresses", "%q cannot name an endpoint", yamlfile.Shorten(e.Name))
		case ep.Host != "" && p.Lab == "":
			return d.ErrorAt(path+".host", "add lab: TOPOLOGY, or use command: or address:", "%s: a host belongs to a lab, and the plan has none", path)
		case ep.Host != "" && len(ep.Command) > 0:
			return d.ErrorAt(path+".command", "keep one of them", "%s: host and command exclude each other", path)
		case len(ep.Command) > 0 && ep.Command[0] == "":
			return d.ErrorAt(path+".command", "write for example [ssh, onprem, soku]", "%s: the program is empty", path)
		}
		if ep.Address != "" && !isHost(ep.Address) {
			return d.ErrorAt(path+".address", "a name or an IP address; the port is a key of its own", "%s: %q is no address", path, yamlfile.Shorten(ep.Address))
		}
		for _, a := range ep.Addresses {
			if !isEndpointName(a.Name) || !isHost(a.Value) {
				return d.ErrorAt(path+".addresses."+a.Name, "write for example vlan: 10.1.0.2", "%s: %q: %q is no labelled address", path, yamlfile.Shorten(a.Name), yamlfile.Shorten(a.Value))
			}
		}
	}
	for key, ref := range map[string]string{"from": p.From, "to": p.To} {
		if err := p.checkReference(d, key, ref); err != nil {
			return err
		}
	}
	return nil
}

// checkReference checks an endpoint or endpoint.label.
func (p *Plan) checkReference(d *yamlfile.File, path, ref string) error {
	if ref == "" {
		return nil
	}
	name, label, labelled := strings.Cut(ref, ".")
	e, ok := p.Endpoints.Get(name)
	if !ok {
		hint := "endpoints are " + strings.Join(p.Endpoints.Names(), ", ")
		if len(p.Endpoints) == 0 {
			hint = "name it under endpoints:"
		} else if near := yamlfile.Nearest(name, p.Endpoints.Names()); near != "" {
			hint = "did you mean " + near + "?"
		}
		return d.ErrorAt(path, hint, "%s: there is no endpoint %q", path, yamlfile.Shorten(name))
	}
	if _, ok := e.Addresses.Get(label); labelled && !ok && e.Host == "" {
		hint := "its labels are " + strings.Join(e.Addresses.Names(), ", ")
		if len(e.Addresses) == 0 {
			hint = "add addresses: {" + label + ": ...} to the endpoint"
		}
		return d.ErrorAt(path, hint, "%s: endpoint %s has no address labelled %q", path, name, yamlfile.Shorten(label))
	}
	return nil
}

func (p *Plan) checkFactors(d *yamlfile.File) error {
	if len(p.Factors) > maxFactors {
		return d.ErrorAt("factors", "", "%d factors; at most %d make sense", len(p.Factors), maxFactors)
	}
	variables := map[string]string{}
	for i := range p.Factors {
		f := &p.Factors[i]
		path := "factors." + f.Name
		if err := printable(f.Name); err != "" {
			return d.ErrorAt(path, err, "%q cannot name a factor", yamlfile.Shorten(f.Name))
		}
		v := FactorVariable(f.Name)
		if other, taken := variables[v]; taken {
			return d.ErrorAt(path, "rename one of them", "factors %s and %s would both be %s in commands", other, f.Name, v)
		}
		variables[v] = f.Name
		if len(f.Value.Levels) == 0 || len(f.Value.Levels) > maxLevels {
			return d.ErrorAt(path, "give its levels, for example [a, b]", "%s: %d levels, expected 1 to %d", path, len(f.Value.Levels), maxLevels)
		}
		if err := p.checkLevels(d, path, f.Name, &f.Value); err != nil {
			return err
		}
	}
	return nil
}

func printable(name string) (hint string) {
	switch {
	case strings.TrimSpace(name) == "":
		return "it is empty"
	case len([]rune(name)) > maxName:
		return "it is longer than 100 characters"
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "it has characters that cannot be printed"
	}
	return ""
}

// FactorVariable is the environment variable that tells commands a factor's
// level: SOKU_FACTOR_ and the name in capitals, other characters as "_".
func FactorVariable(name string) string {
	return "SOKU_FACTOR_" + strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z' || r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, name)
}

package plan

import (
	"path/filepath"
	"time"

	"soku/internal/catalog"
	"soku/internal/measure"
	_ "soku/internal/tests" // plans name tests and their options
	"soku/internal/yamlfile"
)

// Values of keys that a plan leaves out.
const (
	DefaultRepeats = 1
	DefaultRounds  = 6
	formerRounds   = 3 // of plans without rounds in journals that do not name them
	DefaultLimit   = measure.Duration(time.Hour)
)

// format is that of a plan's file.
var format = yamlfile.Format{MaxBytes: 256 << 10, Begin: "campaign: NAME"}

// Load reads and checks the plan in a file; read is usually os.ReadFile. Errors
// are of kind file and begin with FILE:LINE:COLUMN, or say that the file cannot
// be read.
func Load(path string, read func(string) ([]byte, error)) (*Plan, error) {
	return LoadWith(path, read, nil)
}

// LoadWith is Load with the catalog that limits of the plan may name, instead of the built-in
// one. known is called once at most, and only if the plan names a component.
func LoadWith(path string, read func(string) ([]byte, error), known func() (*catalog.Catalog, error)) (*Plan, error) {
	text, err := read(path)
	if err != nil {
		return nil, measure.Fail(measure.KindFile, "campaign.read_plan", measure.Figures{"cause": err})
	}
	return parse(&Plan{File: path, Text: text, known: known})
}

// Parse checks the text of a plan; file is its path, for messages and for what
// the plan names relative to it.
func Parse(file string, text []byte) (*Plan, error) {
	return parse(&Plan{File: file, Text: text})
}

// ParseRecorded is Parse for the plan of a campaign that has begun: an older version
// may have accepted more. Rounds that the plan does not name are those of older versions,
// whose journals do not have them.
func ParseRecorded(file string, text []byte) (*Plan, error) {
	return parse(&Plan{File: file, Text: text, recorded: true})
}

// parse fills in a plan from its text.
func parse(p *Plan) (*Plan, error) {
	p.AbortAfter = DefaultAbortAfter // 0 has a meaning
	d, err := yamlfile.Parse(p.File, p.Text, format)
	if err != nil {
		return nil, err
	}
	d.Former = p.formerKey
	if err := d.Decode(d.Root, p, ""); err != nil {
		return nil, err
	}
	p.source = d
	if p.Repeats == 0 {
		p.Repeats = DefaultRepeats
	}
	if p.roundsByDefault = p.Rounds == 0; p.roundsByDefault {
		switch p.Rounds = DefaultRounds; {
		case p.Searches():
			p.Rounds = DefaultSearchRounds
		case p.recorded:
			p.Rounds = formerRounds
		}
	}
	if p.Limit == 0 {
		p.Limit = DefaultLimit
	}
	for _, check := range []func(*yamlfile.File) error{p.checkTimes, p.checkNames, p.addLabelled, p.checkEndpoints, p.addContention, p.addSearch, p.checkFactors, p.checkPairs, p.checkIsolatedPairs, p.checkWhen, p.bindFormer, p.checkSelections, p.checkLimits, p.makePatterns, p.checkEffects, p.checkSearch, p.checkControl, p.checkUntil, p.checkBudget} {
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

func (p *Plan) checkNames(d *yamlfile.File) error {
	switch {
	case p.Campaign == "":
		return d.Fail(yamlfile.Start, "campaign.no_name", nil)
	case !isCampaignName(p.Campaign):
		return d.FailAt("campaign", "campaign.name", measure.Figures{"name": yamlfile.Shorten(p.Campaign)})
	case len(p.Tests) == 0:
		return d.FailAt("tests", "campaign.no_tests", nil)
	case len(p.Shell) > 0 && p.Shell[0] == "":
		return d.LocateAt("shell", measure.Fail(measure.KindFile, "campaign.empty_shell", nil))
	}
	for _, label := range p.Tests.Names() {
		if hint := notPrintable(label); hint != "" {
			e := d.FailAt("tests."+label, "campaign.test_label", measure.Figures{"label": yamlfile.Shorten(label)})
			return e.WithHintCode(hint, measure.Figures{"most": maxName})
		}
	}
	return nil
}

func (p *Plan) checkEndpoints(d *yamlfile.File) error {
	for _, e := range p.Endpoints {
		path := "endpoints." + e.Name
		ep := e.Value
		switch {
		case !IsEndpointName(e.Name):
			return d.FailAt(path, "campaign.endpoint_name", measure.Figures{"name": yamlfile.Shorten(e.Name)})
		case ep.Host != "" && p.Lab == "":
			return d.LocateAt(path+".host", measure.Fail(measure.KindFile, "campaign.host_without_lab", nil))
		case ep.Host != "" && len(ep.Command) > 0:
			return d.LocateAt(path+".command", measure.Fail(measure.KindFile, "campaign.host_and_command", nil))
		case len(ep.Command) > 0 && ep.Command[0] == "":
			return d.LocateAt(path+".command", measure.Fail(measure.KindFile, "campaign.empty_command", nil))
		}
		if err := ep.checkSSH(d, path); err != nil {
			return err
		}
		if ep.Address != "" && !isHost(ep.Address) {
			return d.LocateAt(path+".address", measure.Fail(measure.KindFile, "campaign.address", measure.Figures{"address": yamlfile.Shorten(ep.Address)}))
		}
		for _, a := range ep.Addresses {
			if !IsEndpointName(a.Name) || !isHost(a.Value) {
				return d.LocateAt(path+".addresses."+a.Name, measure.Fail(measure.KindFile, "campaign.labelled_address", measure.Figures{
					"label": yamlfile.Shorten(a.Name), "address": yamlfile.Shorten(a.Value),
				}))
			}
		}
	}
	if on, ok := p.Endpoints.Get(p.CommandsOn); p.CommandsOn != "" && (!ok || on.Agent == "") {
		return d.LocateAt("commands_on", measure.Fail(measure.KindFile, "campaign.commands_on", measure.Figures{"endpoint": yamlfile.Shorten(p.CommandsOn)}))
	}
	if err := p.checkEnd(d, "from", p.From, p.FromLabel); err != nil {
		return err
	}
	return p.checkEnd(d, "to", p.To, p.ToLabel)
}

func (p *Plan) checkFactors(d *yamlfile.File) error {
	if len(p.Factors) > maxFactors {
		return d.FailAt("factors", "campaign.too_many_factors", measure.Figures{"factors": len(p.Factors), "most": maxFactors})
	}
	variables := map[string]string{}
	for i := range p.Factors {
		f := &p.Factors[i]
		path := p.factorPath(f.Name)
		if hint := notPrintable(f.Name); hint != "" {
			e := d.FailAt(path, "campaign.factor_name", measure.Figures{"name": yamlfile.Shorten(f.Name)})
			return e.WithHintCode(hint, measure.Figures{"most": maxName})
		}
		v := FactorVariable(f.Name)
		if other, taken := variables[v]; taken {
			return d.FailAt(path, "campaign.factor_variable", measure.Figures{"first": other, "second": f.Name, "variable": v})
		}
		variables[v] = f.Name
		if err := p.expandSweep(d, path, f.Name, &f.Value); err != nil {
			return err
		}
		if len(f.Value.Levels) == 0 || len(f.Value.Levels) > maxLevels {
			return d.LocateAt(path, measure.Fail(measure.KindFile, "campaign.levels", measure.Figures{"levels": len(f.Value.Levels), "most": maxLevels}))
		}
		if err := p.checkLevels(d, path, f.Name, &f.Value); err != nil {
			return err
		}
	}
	return nil
}

// DefaultAbortAfter is how many identical failures in a row end the trials of a pair of
// ends, where the plan does not say.
const DefaultAbortAfter = 5

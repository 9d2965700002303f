package advice

import (
	"bytes"
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"soku/internal/campaign/plan"
	"soku/internal/measure"
)

// Draft is what a person decides of a plan that is to be written: see [Draft.Plan].
type Draft struct {
	File     string // that it will be in, for the comments
	Campaign string // name
	Question string // may be empty
	Hosts    []DraftHost
	Factors  []DraftFactor
	Tests    []measure.Test
	Rounds   int
}

// DraftFactor is something that is varied: an option of the tests, or else what a command
// sets or, without one, a person.
type DraftFactor struct {
	Name    string
	Levels  []string
	Command string
}

//go:embed draft.yaml.tmpl
var draftText string

// draftView is a draft as the template writes it, with texts as YAML.
type draftView struct {
	File, Campaign, Question string
	Hosts                    []DraftHost
	SSH, Running             bool   // hosts that ssh reaches; hosts on which a server has to run
	Server                   string // name of the factor whose levels are the hosts, or "" if there is none
	To                       string // host, unless there is such a factor
	Factors                  []factorView
	Before                   []string // lines
	Tests                    []testView
	Rounds                   int
}

type factorView struct {
	Name, Levels      string
	Numbered, Command bool // sets an option; is set by a command
	Host              bool // chooses the host
	Variable          string
}

type testView struct {
	Test  measure.Test
	Lasts bool // a time can be given to it
}

// Plan writes the draft as YAML with comments. The plan loads; otherwise the error is that of
// [plan.Parse], which names what is wrong.
func (d Draft) Plan() ([]byte, error) {
	v := draftView{File: yamlText(d.File), Campaign: yamlText(d.Campaign), Rounds: d.Rounds}
	if d.Question != "" {
		v.Question = strconv.Quote(d.Question)
	}
	hosts, err := d.allHosts()
	if err != nil {
		return nil, err
	}
	for _, h := range hosts {
		v.Hosts = append(v.Hosts, DraftHost{yamlText(h.Name), yamlText(h.Address), h.SSH})
		v.SSH, v.Running = v.SSH || h.SSH, v.Running || !h.SSH
	}
	if v.To = yamlText(d.Hosts[0].Name); len(d.Hosts) > 1 {
		v.Server = "server"
	}
	for _, f := range d.Factors {
		view := factorView{Name: yamlText(f.Name), Variable: plan.FactorVariable(f.Name), Command: f.Command != "", Host: slices.Contains(d.HostFactors(), f.Name)}
		if f.Command != "" {
			v.Before = append(v.Before, strings.Split(strings.TrimSpace(f.Command), "\n")...)
		} else {
			view.Numbered = d.HasOption(f.Name)
		}
		levels := make([]string, len(f.Levels))
		for i, l := range f.Levels {
			levels[i] = yamlText(l)
		}
		view.Levels = strings.Join(levels, ", ")
		v.Factors = append(v.Factors, view)
	}
	for _, t := range d.Tests {
		v.Tests = append(v.Tests, testView{t, plan.HasOption(t, "duration")})
	}
	t, err := template.New("plan").Parse(draftText)
	var b bytes.Buffer
	if err == nil {
		err = t.Execute(&b, v)
	}
	if err != nil {
		return nil, measure.Fail(measure.KindInternal, "campaign.draft", measure.Figures{"cause": err})
	}
	_, err = plan.Parse(d.File, b.Bytes())
	return b.Bytes(), err
}

// HasOption reports whether a test of the draft has an option of that key.
func (d Draft) HasOption(key string) bool {
	return slices.ContainsFunc(d.Tests, func(t measure.Test) bool { return plan.HasOption(t, key) })
}

// plainText is text that needs no quotes in YAML, also within brackets.
var plainText = regexp.MustCompile(`^[\pL\pN][\pL\pN._/@-]*$`)

// yamlText is a text as YAML.
func yamlText(s string) string {
	if plainText.MatchString(s) {
		return s
	}
	return strconv.Quote(s)
}

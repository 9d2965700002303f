package campaign

import (
	"encoding/json"

	"soku/internal/catalog"
	"soku/internal/measure"
	"soku/internal/yamlfile"
)

// Plan is a campaign as a person writes it down. The tags of this struct and
// of those below are the only declaration of the plan's keys: they give the
// keys that are read (yaml), what an error expects, and the JSON Schema (doc).
//
// A Plan that [Load] returned holds together: names refer to something, every
// pattern has both ends, and the options of every trial are in range.
type Plan struct {
	Campaign     string                     `yaml:"campaign" doc:"Name: letters, digits, dots, dashes and underscores"`
	Title        string                     `yaml:"title" doc:"The question the campaign answers"`
	Lab          string                     `yaml:"lab" doc:"Topology of an emulated network to bring up around the campaign; relative to the plan"`
	Endpoints    yamlfile.Ordered[Endpoint] `yaml:"endpoints" doc:"Hosts that take part, by name"`
	From         string                     `yaml:"from" doc:"Endpoint that starts the trials (client), or endpoint.label to measure from one of its addresses; without it this machine"`
	FromLabel    string                     `yaml:"from_label" doc:"Label of the client's address, where from names none"`
	To           string                     `yaml:"to" doc:"Endpoint that is measured against (server), or endpoint.label for one of its addresses"`
	ToLabel      string                     `yaml:"to_label" doc:"Label of the server's address, where to names none"`
	Groups       yamlfile.Ordered[[]string] `yaml:"groups" doc:"Groups of endpoints for pairs, by name: each a list of endpoint or endpoint.label"`
	Pairs        *PairPlan                  `yaml:"pairs" doc:"Endpoints that every pattern measures between, in place of from and to"`
	Contention   Contention                 `yaml:"contention" doc:"How the trials of the pairs share the network: isolated (no host in two trials at once) or together (all pairs of a pattern start at one moment); a list of both compares them"`
	Factors      yamlfile.Ordered[Factor]   `yaml:"factors" doc:"What is varied, by name; their combinations are the patterns"`
	Exclude      []Selection                `yaml:"exclude" doc:"Patterns to leave out; a factor left out stands for all its levels"`
	Tests        yamlfile.Ordered[TestPlan] `yaml:"tests" doc:"What is measured in each pattern, by label"`
	Repeats      int                        `yaml:"repeats" min:"1" max:"1000" doc:"Trials of each test each time a pattern runs"`
	Rounds       int                        `yaml:"rounds" min:"1" max:"10000" doc:"Passes over all patterns, each in a random order"`
	TrialsAtOnce int                        `yaml:"trials_at_once" min:"1" max:"100000" doc:"At most so many trials run at once; without it as many pairs as have hosts of their own"`
	Seed         *int64                     `yaml:"seed" doc:"Seed of the random order; drawn and recorded without it"`
	Before       string                     `yaml:"before" doc:"Command to run before each pattern's trials in a round"`
	After        string                     `yaml:"after" doc:"Command to run after them"`
	Shell        []string                   `yaml:"shell" doc:"What runs the commands; without it sh -c, on Windows cmd /C"`
	Limit        measure.Duration           `yaml:"command_timeout" doc:"A command that runs longer is ended and counts as failed"`
	Only         Selection                  `yaml:"only" doc:"Run these patterns now and the others another day into the same campaign"`
	AbortAfter   int                        `yaml:"abort_after" min:"0" max:"1000000" doc:"After this many identical failures in a row between two ends their trials that are left do not run now; 0: they run"`
	Pause        measure.Duration           `yaml:"pause" doc:"Wait between two trials"`
	Practical    measure.Percent            `yaml:"practical" doc:"Smallest difference that matters in practice, such as 3%; default 2%"`
	Limits       Limits                     `yaml:"limits" doc:"Documented limits of figures where no level and no endpoint has one, such as goodput: 12 Gbit/s, and source: who published them"`
	Control      Selection                  `yaml:"control" doc:"Patterns that show what the hosts alone reach: reported apart, not ranked, not in the effects of factors"`
	Noise        measure.Percent            `yaml:"noise" doc:"Standard deviation of a pattern from round to round, for what soku plan says of the design; without it that of the newest campaign of this name"`
	Find         Search                     `yaml:"find" doc:"A factor whose levels are searched: the plateau of an option"`
	Until        Until                      `yaml:"until" doc:"When there are enough rounds: the campaign adds rounds until the interval of every pattern is narrow"`
	Budget       Budget                     `yaml:"budget" doc:"What all runs of the campaign together may use, and the price of what they send"`

	// File is the plan's path and Text what was read from it.
	File string `yaml:"-" json:"-"`
	Text []byte `yaml:"-" json:"-"`

	searches      [][]int                          // patterns of each search, by level
	recorded      bool                             // read from a journal
	known         func() (*catalog.Catalog, error) // nil: the built-in one
	source        *yamlfile.File
	patterns      []Pattern
	conditional   bool     // a level has a condition
	paired        *pairing // nil: from and to
	startTogether bool     // contention: together, and no factor of it
	former        formerSelections
	resolved      map[string]string // address by endpoint or endpoint.label, from the lab
}

// Endpoint is a host that takes part.
type Endpoint struct {
	Host      string                   `yaml:"host" doc:"Host of the lab that this endpoint is"`
	Command   []string                 `yaml:"command" doc:"Program and arguments that start soku on this endpoint, such as [ssh, onprem, soku]"`
	SSH       string                   `yaml:"ssh" json:",omitempty" doc:"Destination of ssh, such as admin@vm2 or a Host of its configuration; soku is copied there for the campaign"`
	Keep      bool                     `yaml:"keep" json:",omitempty" doc:"Leave the program that was copied by ssh there for the next campaign"`
	Server    string                   `yaml:"server" json:",omitempty" doc:"running: soku server runs there already; without it the campaign starts one by ssh"`
	CopyRoot  string                   `yaml:"copy_root" json:",omitempty" doc:"With ssh: folder there in which the server that the campaign starts takes copies of files (test copy)"`
	Address   string                   `yaml:"address" doc:"Name or IP address the others reach it by; in a lab taken from the topology, with ssh without it that of ssh"`
	Port      int                      `yaml:"port" min:"1" max:"65535" doc:"Port of its soku server; with ssh without it 7658 or, if that is taken, a free one"`
	Addresses yamlfile.Ordered[string] `yaml:"addresses" doc:"More addresses, by label"`
	Limits    Limits                   `yaml:"limits" json:"-" doc:"Documented limits of this endpoint: figures, and source: who published them"`
}

// Factor is something varied on purpose.
type Factor struct {
	Option string  `yaml:"option" json:",omitempty" doc:"Option of the tests that each level's name is the value of"`
	By     string  `yaml:"by" json:"-" doc:"What makes the change where the levels set nothing: hand (a person, for whom soku run waits) or command (the plan's before)"`
	Levels []Level `yaml:"levels" doc:"Its values"`
	From   string  `yaml:"from" json:"-" doc:"First of levels that are numbers, in the form of the option"`
	To     string  `yaml:"to" json:"-" doc:"Last of them; what would exceed it is left out"`
	Scale  string  `yaml:"scale" json:"-" doc:"How they follow each other: linear (by step), log2 (doubled), log10 (times ten)"`
	Step   string  `yaml:"step" json:"-" doc:"Difference between two of them, with scale: linear"`
}

// Level is one value of a factor, and what it sets.
type Level struct {
	Name      string    `yaml:"name" doc:"How it is called in patterns and tables"`
	From      string    `yaml:"from" json:",omitempty" doc:"Client of the patterns with this level"`
	FromLabel string    `yaml:"from_label" json:",omitempty" doc:"Label of the client's address in the patterns with this level, whatever endpoint it is"`
	To        string    `yaml:"to" json:",omitempty" doc:"Server of the patterns with this level"`
	ToLabel   string    `yaml:"to_label" json:",omitempty" doc:"Label of the server's address in the patterns with this level, whatever endpoint it is"`
	When      Selection `yaml:"when" json:",omitempty" doc:"Levels of other factors with which this level exists; patterns without them are left out"`
	Options   Setting   `yaml:"options" json:",omitempty" doc:"Options of the tests they apply to"`
	Before    string    `yaml:"before" json:",omitempty" doc:"Command to run before the trials of a pattern with this level, after the plan's own"`
	After     string    `yaml:"after" json:",omitempty" doc:"Command to run after them, before the plan's own"`
	Limits    Limits    `yaml:"limits" json:"-" doc:"Documented limits of what the level stands for: figures, and source: who published them"`

	at         string // path in the plan
	contention string // of the levels of ContentionFactor
	conditions []condition
}

// Setting is options by key with the text of their values, checked but not yet
// applied: which test they go into is known only then.
type Setting = yamlfile.Ordered[string]

// TestPlan is one test with its options.
type TestPlan struct {
	Test    measure.Test
	Options measure.Options
	TestTurns
	set map[string]bool // options the plan names, as opposed to defaults
}

// TestTurns is how often a test runs. Where it is 0, the plan's keys of the same names apply.
type TestTurns struct {
	Repeats int `yaml:"repeats" json:",omitempty" min:"1" max:"1000" doc:"Trials of this test each time a pattern runs, in place of the plan's repeats"`
	Rounds  int `yaml:"rounds" json:",omitempty" min:"1" max:"10000" doc:"Rounds in which this test runs, in place of the plan's rounds"`
}

// Selection is a set of patterns: those that have one of the given levels in
// each of the given factors.
type Selection yamlfile.Ordered[[]string]

// Matches reports whether a pattern with these levels is in the selection. An
// empty selection holds every pattern.
func (s Selection) Matches(levels []measure.Level) bool {
	for _, want := range s {
		found := false
		for _, have := range levels {
			if have.Factor != want.Name {
				continue
			}
			for _, value := range want.Value {
				found = found || value == have.Value
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// MarshalJSON writes {"factor": ["level", ...]} for the journal.
func (s Selection) MarshalJSON() ([]byte, error) {
	m := make(map[string][]string, len(s))
	for _, e := range s {
		m[e.Name] = e.Value
	}
	return json.Marshal(m)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Selection) UnmarshalJSON(b []byte) error {
	var m map[string][]string
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	*s = nil
	for name, values := range m {
		*s = append(*s, yamlfile.Entry[[]string]{Name: name, Value: values})
	}
	return nil
}

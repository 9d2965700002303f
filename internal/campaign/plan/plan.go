package plan

import (
	"encoding/json"

	"soku/internal/catalog"
	"soku/internal/measure"
	"soku/internal/stats"
	"soku/internal/yamlfile"
)

// Plan is a campaign as a person writes it down. The tags of this struct and
// of those below are the only declaration of the plan's keys: they give the
// keys that are read (yaml), what an error expects, and the JSON Schema (doc).
//
// A Plan that [Load] returned holds together: names refer to something, every
// pattern has both ends, and the options of every trial are in range.
type Plan struct {
	Campaign      string                     `yaml:"campaign" doc:"Name: letters, digits, dots, dashes and underscores"`
	Title         string                     `yaml:"title" doc:"The question the campaign answers"`
	Question      string                     `yaml:"question" doc:"Factor that the title asks about, which reports speak of first, or limit, contention or patterns; without it the only factor that is no option of a test, otherwise the one that changes most"`
	Lab           string                     `yaml:"lab" doc:"Topology of an emulated network to bring up around the campaign; relative to the plan"`
	Endpoints     yamlfile.Ordered[Endpoint] `yaml:"endpoints" doc:"Hosts that take part, by name"`
	From          string                     `yaml:"from" doc:"Endpoint that starts the trials (client), or endpoint.label to measure from one of its addresses, where a factor in braces stands for its level, such as {vmsize}-{zone}; without it this machine"`
	FromLabel     string                     `yaml:"from_label" doc:"Label of the client's address, where from names none"`
	To            string                     `yaml:"to" doc:"Endpoint that is measured against (server), or endpoint.label for one of its addresses; a factor in braces stands for its level, such as {vmsize}-{zone}"`
	ToLabel       string                     `yaml:"to_label" doc:"Label of the server's address, where to names none"`
	Groups        yamlfile.Ordered[Members]  `yaml:"groups" doc:"Groups of endpoints for pairs, by name: each a list of endpoint or endpoint.label, or the agents of a hub that have labels, as {agents: zone=west}"`
	AgentsByLabel AgentsByLabel              `yaml:"agents_by_label" doc:"Agents by the labels that the plan names, as the hub found them when the campaign began: it adds this key to the plan"`
	Pairs         *Pairs                     `yaml:"pairs" doc:"Endpoints that every pattern measures between, in place of from and to"`
	IsolatedPairs int                        `yaml:"isolated_pairs" min:"2" max:"1000" doc:"Where contention compares both ways: how many of the pairs, a sample with every host where that is possible, are measured one at a time; without it all"`
	Contention    Contention                 `yaml:"contention" doc:"How the trials of the pairs share the network: isolated (no host in two trials at once) or together (all pairs of a pattern start at one moment); a list of both compares them"`
	Factors       yamlfile.Ordered[Factor]   `yaml:"factors" doc:"What is varied, by name; their combinations are the patterns"`
	Exclude       []Selection                `yaml:"exclude" doc:"Patterns to leave out; a factor left out stands for all its levels"`
	Tests         yamlfile.Ordered[Test]     `yaml:"tests" doc:"What is measured in each pattern, by label"`
	Repeats       int                        `yaml:"repeats" min:"1" max:"1000" doc:"Trials of each test each time a pattern runs"`
	Rounds        int                        `yaml:"rounds" min:"1" max:"10000" doc:"Passes over all patterns, each in a random order"`
	Every         measure.Duration           `yaml:"every" doc:"Time from the beginning of a round to that of the next: rounds begin at fixed times, and a time at which a round still runs is skipped"`
	For           measure.Duration           `yaml:"for" doc:"Time in which rounds begin, in place of their number: with every: 1h, for: 24h is 24 rounds; those whose time is missed are left out"`
	TrialsAtOnce  int                        `yaml:"trials_at_once" min:"1" max:"100000" doc:"Largest number of trials that run concurrently; without it as many pairs as have hosts of their own, or one where contention has both ways"`
	Seed          *int64                     `yaml:"seed" doc:"Seed of the random order; drawn and recorded without it"`
	Before        string                     `yaml:"before" doc:"Command to run before each pattern's trials in a round"`
	After         string                     `yaml:"after" doc:"Command to run after them"`
	Shell         []string                   `yaml:"shell" doc:"What runs the commands; without it sh -c, on Windows cmd /C"`
	CommandsOn    string                     `yaml:"commands_on" json:",omitempty" doc:"Endpoint whose agent runs the commands of a campaign that a hub conducts; its owner must allow commands"`
	Limit         measure.Duration           `yaml:"command_timeout" doc:"A command that runs longer is ended and counts as failed"`
	Only          Selection                  `yaml:"only" doc:"Run these patterns now and the others another day into the same campaign"`
	AbortAfter    int                        `yaml:"abort_after" min:"0" max:"1000000" doc:"After this many identical failures in a row between two ends their trials that are left do not run now; 0: they run"`
	Pause         measure.Duration           `yaml:"pause" doc:"Wait between two trials"`
	Practical     measure.Percent            `yaml:"practical" doc:"Smallest difference that matters in practice, such as 3%; default 2%"`
	Limits        Limits                     `yaml:"limits" doc:"Documented limits of figures where no level and no endpoint has one, such as goodput: 12 Gbit/s, and source: who published them"`
	Baseline      Selection                  `yaml:"baseline" doc:"Levels with which tables compare the others, such as sku: basic, one of a factor; without it the best pattern"`
	Control       Selection                  `yaml:"control" doc:"Patterns that show what the hosts alone reach: reported apart, not ranked, not in the effects of factors"`
	Noise         measure.Percent            `yaml:"noise" doc:"Standard deviation of a pattern from round to round, for what soku plan says of the design; without it that of the newest campaign of this name"`
	Find          Search                     `yaml:"find" doc:"A factor whose levels are searched: the plateau of an option, or the highest level at which a figure holds"`
	Until         Until                      `yaml:"until" doc:"When there are enough rounds: the campaign adds rounds until the interval of every pattern is narrow"`
	Budget        Budget                     `yaml:"budget" doc:"What all runs of the campaign together may use, and the price of what they send"`

	// File is the plan's path and Text what was read from it.
	File string `yaml:"-" json:"-"`
	Text []byte `yaml:"-" json:"-"`

	searches        [][]int                          // patterns of each search, by level
	recorded        bool                             // read from a journal
	roundsByDefault bool                             // the text has no rounds
	known           func() (*catalog.Catalog, error) // nil: the built-in one
	source          *yamlfile.File
	patterns        []Pattern
	conditional     bool     // a level has a condition
	paired          *pairing // nil: from and to
	startTogether   bool     // contention: together, and no factor of it
	former          formerSelections
	resolved        map[string]string // address by endpoint or endpoint.label, from the lab
}

// Endpoint is a host that takes part.
type Endpoint struct {
	Host      string                   `yaml:"host" doc:"Host of the lab that this endpoint is"`
	Command   []string                 `yaml:"command" doc:"Program and arguments that start soku on this endpoint, such as [ssh, onprem, soku]"`
	SSH       string                   `yaml:"ssh" json:",omitempty" doc:"Destination of ssh, such as admin@vm2 or a Host of its configuration; soku is copied there for the campaign"`
	Agent     string                   `yaml:"agent" json:",omitempty" doc:"Agent of the hub that runs the campaign: its name, its identity, or the beginning of that"`
	Keep      bool                     `yaml:"keep" json:",omitempty" doc:"Leave the program that was copied by ssh there for the next campaign"`
	Server    string                   `yaml:"server" json:",omitempty" doc:"running: soku server runs there already; without it the campaign starts one by ssh or by the agent"`
	CopyRoot  string                   `yaml:"copy_root" json:",omitempty" doc:"With ssh or agent: folder there in which the server that the campaign starts takes copies of files (test copy)"`
	Address   string                   `yaml:"address" doc:"Name or IP address the others reach it by; in a lab taken from the topology, with ssh without it that of ssh, with agent without it the first that the agent announces"`
	Port      int                      `yaml:"port" min:"1" max:"65535" doc:"Port of its soku server; with ssh or agent without it 7658 or, if that is taken, a free one"`
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
	choosesEnd bool   // an end names the factor in braces
	contention string // of the levels of ContentionFactor
	conditions []condition
}

// Setting is options by key with the text of their values, checked but not yet
// applied: which test they go into is known only then.
type Setting = yamlfile.Ordered[string]

// Test is one test with its options.
type Test struct {
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

// Budget is what all runs of a campaign together may use. A member that is 0 sets no limit.
type Budget struct {
	Time       measure.Duration `yaml:"time" doc:"Time that all runs of the campaign may take; until adds no round that would end later"`
	Bytes      measure.Size     `yaml:"bytes" doc:"Payload that they may move: the campaign stops before it moves more"`
	Price      float64          `yaml:"price" min:"0" doc:"Price of that payload, by egress_price_per_gb"`
	PricePerGB float64          `yaml:"egress_price_per_gb" min:"0" doc:"Price of 1e9 bytes sent, for price and for the estimate; in any currency"`
}

// Contention is how the trials of a pattern share the network: one way, or several to
// compare, which are then the levels of the factor [ContentionFactor].
type Contention []string

// Ways in which the trials of a pattern run concurrently.
const (
	Isolated = "isolated" // disjoint pairs run concurrently, so that no host is in two trials
	Together = "together" // all pairs start at one barrier
)

// ContentionFactor is the factor of a plan that compares ways of contention.
const ContentionFactor = "contention"

// Search is a factor whose levels are chosen while the campaign runs: it looks for the
// plateau of an option by the rule of [stats.Sweep], or for the highest level at which a threshold
// holds. With an empty Option there is none.
type Search struct {
	Option string          `yaml:"option" doc:"Option whose plateau is searched; it becomes a factor of this name"`
	From   string          `yaml:"from" doc:"First level, in the form of the option"`
	To     string          `yaml:"to" doc:"Last level that the search may reach; what would exceed it is left out"`
	Scale  string          `yaml:"scale" doc:"How the levels follow each other: log2 (doubled; without scale and step), log10 (times ten), linear (by step)"`
	Step   string          `yaml:"step" doc:"Difference between two of them, with scale: linear"`
	Gain   measure.Percent `yaml:"gain" doc:"A level that exceeds the best before it by less is no improvement; two of them in a row end the search. Default 2%"`
	While  Threshold       `yaml:"while" json:",omitempty" doc:"What a figure has to be, such as loss <= 1 %: the highest level at which it is that is searched, by bisection, in place of the plateau"`
	Test   string          `yaml:"test" doc:"Label of the test whose figure decides; without it the first that has the option and of which more is better, or the figure of while"`
}

// Limits are documented limits: figures that the plan has itself, and components of the catalog.
type Limits struct {
	figures    []measure.Limit
	components []string // IDs
}

// Pairs says between which endpoints every pattern measures, in place of one from and
// to. A member is an endpoint, endpoint.label, a group, group.label, "*" (every endpoint)
// or "*.label" (every endpoint that has an address of the label).
type Pairs struct {
	Mesh    Members   `yaml:"mesh" json:",omitempty" doc:"Every member with every other, in both directions"`
	Between []Members `yaml:"between" json:",omitempty" doc:"Two lists: each member of the first as client with each of the second as server"`
	List    []Members `yaml:"list" json:",omitempty" doc:"Pairs, each of a client and a server"`
	Both    bool      `yaml:"both" json:",omitempty" doc:"Also the pairs of between and list in the other direction"`
	Exclude []Members `yaml:"exclude" json:",omitempty" doc:"Pairs to leave out, each of a client and a server; an endpoint without a label stands for all its addresses"`
}

// Until is when a campaign has enough rounds: it adds rounds to those of its plan until the
// interval of every pattern is narrow, or every comparison is decided, or both. With neither
// it adds none.
type Until struct {
	Interval  measure.Percent `yaml:"interval" doc:"Add rounds until the 95 % interval of every pattern reaches by at most this to either side of its mean, such as 2%"`
	Decided   bool            `yaml:"decided" doc:"Add rounds until every comparison shows a difference, or rules out one as large as practical"`
	Against   stats.Against   `yaml:"against" doc:"Which comparisons have to be decided: of all patterns with the best, whichever that is (best, the default), with the first one of the plan (first), or of every pair (all)"`
	MaxRounds int             `yaml:"max_rounds" min:"8" max:"10000" doc:"Largest number of rounds; default 40, with decided none: each interim analysis then takes more evidence"`
	Tests     []string        `yaml:"tests" doc:"Labels of the tests that count; default all"`
}

// condition is a level's when: as numbers: the levels of another factor with which the
// level exists.
type condition struct {
	factor int
	with   []bool // by level of that factor
}

// formerSelections are keys of older versions that chose among the combinations of levels. They are
// read only from the plan of a campaign that has begun.
type formerSelections struct {
	zip      [][]string  // groups of factors whose levels go together, the first with the first
	patterns []Selection // the patterns that run, in this order; all if it is empty
}

// pairing is the pairs of a plan, worked out.
type pairing struct {
	members  []member
	pairs    [][2]int32 // client and server, each pair once
	isolated [][2]int32 // sample of pairs for patterns that measure one at a time; nil: all
	machines []string   // that the members are on, each once
	on       []int32    // machine by member
	hosts    int        // machines that are in a pair
	checked  map[[2]string]bool
}

// member is an end of pairs.
type member struct {
	endpoint int    // in the plan's order
	label    string // of its address, as the pairs name it
}

// Pattern is one assignment of a level to every factor: a row of the published
// table, with what its levels set.
type Pattern struct {
	// Name is the levels as they are shown, and no other pattern of the plan has
	// it. What identifies the pattern is Levels.
	Name   string
	Levels []measure.Level // one element a factor, in the plan's order; not nil
	From   string          // endpoint or endpoint.label, or "" for this machine and with pairs
	To     string          // empty with pairs
	Before []string        // commands in the order they run: the plan's, then each level's
	After  []string        // each level's from the last factor to the first, then the plan's
	Tests  []PatternTest

	fromAt, toAt       string // paths of the plan's values that name the ends
	fromLabel, toLabel string // of the addresses of the plan's pairs, where the pairs name none
	Together           bool   // the trials of all pairs start at one barrier
}

// PatternTest is one test of a pattern with the options its levels give it.
type PatternTest struct {
	Label   string
	Test    measure.Test
	Options measure.Options // as asked; not yet effective

	TestTurns // in effect: of the test or the plan

	ownPort bool // the test or a level names the port
}

// AllPatterns are the patterns of the plan in the order of its factors' levels,
// without those it excludes.
func (p *Plan) AllPatterns() []Pattern { return p.patterns }

// Searches reports whether the plan chooses levels of a factor while it runs.
func (p *Plan) Searches() bool { return p.Find.Option != "" }

// Bounds of what a plan may ask for.
const (
	maxPatterns = 10_000
	MaxTrials   = 10_000_000
	maxFactors  = 20
	maxLevels   = 1000
	maxName     = 100 // characters of a name or level
)

// Bounds of pairs.
const (
	maxPairs    = 1_000_000 // a mesh of 1,000 hosts has 999,000
	maxTogether = 1000      // trials of a group: each is a process
)

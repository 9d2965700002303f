package ingest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"soku/internal/measure"
	_ "soku/internal/tests" // mappings name tests and their options
	"soku/internal/yamlfile"
)

// maxMapped bounds the results of one row.
const maxMapped = 100

// Mapping is what a mapping file says: where factors come from, and how the
// columns of a table become results. Its tags are its only declaration;
// docs/reference/ingest.md describes them.
type Mapping struct {
	Campaign string   `yaml:"campaign" doc:"Name of the campaign unless the command line names one"`
	Title    string   `yaml:"title" doc:"The question that the campaign answers"`
	Question string   `yaml:"question" doc:"Factor that the title asks about, or limit, contention or patterns: see the key question of a plan"`
	Source   string   `yaml:"source" doc:"Who measured or published the figures"`
	Tool     string   `yaml:"tool" doc:"Program that measured, for tables"`
	Version  string   `yaml:"version" doc:"Version of that program"`
	Started  string   `yaml:"started" doc:"When it was measured: a day, a year or RFC 3339"`
	Path     string   `yaml:"path" doc:"Pattern of the end of the files' paths, as --path-pattern"`
	Factors  Cells    `yaml:"factors" doc:"Levels of every result, by the factor's name"`
	Round    Cell     `yaml:"round" doc:"Number of the round in which the patterns of a table took turns"`
	Repeat   Cell     `yaml:"repeat" doc:"Number of the trial among those of one pattern, test and round"`
	Session  Cell     `yaml:"session" doc:"Name of the run that measured: only the rounds of one run were interleaved"`
	Results  []Mapped `yaml:"results" doc:"The results of each row of a table; with this key files are read as CSV"`
	Lacks    []string `yaml:"lacks" doc:"What is known to be missing, in addition to what soku finds: codes or phrases"`

	file *yamlfile.File
}

// noteMissing adds what the mapping lists as missing.
func (m *Mapping) noteMissing(r *measure.Result) {
	for _, f := range measure.OfPhrases(m.Lacks) {
		r.Origin.Missing.AddOnce(f)
	}
}

// Mapped is one result of each row of a table. A figure whose cell is empty is
// absent; a row without the result's figures gives no result.
type Mapped struct {
	Label   string `yaml:"label" doc:"Label of the test; without it the test"`
	Test    string `yaml:"test" doc:"What was measured"`
	Factors Cells  `yaml:"factors" doc:"Levels of this result, in addition to those of all"`
	Options Cells  `yaml:"options" doc:"Options of the test by their keys in a plan"`
	Client  Cell   `yaml:"client" doc:"Name of the client"`
	Server  Cell   `yaml:"server" doc:"Name of the server"`
	Figures Cells  `yaml:"figures" doc:"Figures by name"`
	Limits  Cells  `yaml:"limits" doc:"Documented limits that the table has beside the figures, by the figure's name"`
}

// Cell is the source of a value: a column, or the file itself.
type Cell struct {
	Column string `yaml:"column" doc:"Column of the table that has the value"`
	Value  string `yaml:"value" doc:"The value itself"`
	Low    string `yaml:"low" doc:"Column of the smallest of several trials"`
	High   string `yaml:"high" doc:"Column of the largest of several trials"`
	Unit   string `yaml:"unit" doc:"Unit of the figure"`

	Name string `yaml:"-"` // key in its mapping
}

// Cells are cells by name in the order of the file.
type Cells []Cell

// DecodeYAML implements [yamlfile.Decoder].
func (c *Cells) DecodeYAML(f *yamlfile.File, n yamlfile.Node, path string) error {
	var cells yamlfile.Ordered[Cell]
	if err := f.Decode(n, &cells, path); err != nil {
		return err
	}
	*c = make(Cells, len(cells))
	for i, cell := range cells {
		(*c)[i] = cell.Value
		(*c)[i].Name = cell.Name
	}
	return nil
}

// mappingFormat is the format of a mapping file. It has at most 100 results, of about 1 kB
// each.
var mappingFormat = yamlfile.Format{
	MaxBytes: 128 << 10, Aliases: true, HintCode: "ingest.mapping_reference",
}

// ParseMapping reads the text of a mapping file. An error has kind file and
// begins with FILE:LINE:COLUMN.
func ParseMapping(file string, text []byte) (*Mapping, error) {
	f, err := yamlfile.Parse(file, text, mappingFormat)
	if err != nil {
		return nil, err
	}
	m := &Mapping{file: f}
	if !f.Root.IsNull() {
		if err := f.Decode(f.Root, m, ""); err != nil {
			return nil, err
		}
	}
	return m, m.check()
}

// fail is an error about the value at a path such as results.1.test, or about the whole file
// for an empty path.
func (m *Mapping) fail(path, code string, figures measure.Figures) *measure.Error {
	return m.file.FailAt(path, code, figures)
}

func (m *Mapping) check() error {
	if _, err := m.started(); err != nil {
		return err
	}
	if m.Path != "" {
		if _, err := ParsePathPattern(m.Path); err != nil {
			return m.file.LocateAt("path", err)
		}
	}
	if len(m.Results) > maxMapped {
		return m.fail("results", "ingest.mapping.results", measure.Figures{"results": len(m.Results), "limit": maxMapped})
	}
	for i := range m.Results {
		if err := m.checkResult(i); err != nil {
			return err
		}
	}
	if err := m.checkRounds(); err != nil {
		return err
	}
	return m.checkCells("factors", m.Factors)
}

func (m *Mapping) checkResult(i int) error {
	at := fmt.Sprintf("results.%d", i+1)
	r := &m.Results[i]
	test, err := measure.ParseTest(r.Test)
	if err != nil {
		return m.file.LocateAt(at+".test", err)
	}
	if !slices.Contains(tableTests(), test) {
		return m.fail(at+".test", "ingest.mapping.test", measure.Figures{"test": test, "tests": tableTests()})
	}
	r.Label = cmp.Or(r.Label, r.Test)
	if len(r.Figures) == 0 {
		return m.fail(at, "ingest.mapping.no_figures", measure.Figures{"result": at})
	}
	ranges := 0
	for _, c := range r.Figures {
		f, known := figureOf(c.Name)
		if !known {
			return m.fail(at+".figures."+c.Name, "ingest.mapping.figure", measure.Figures{"figure": short(c.Name), "figures": figureNames()})
		}
		if !f.fits(test) {
			return m.fail(at+".figures."+c.Name, "ingest.mapping.other_test", measure.Figures{"figure": c.Name, "test": test})
		}
		if _, ok := f.unit(c.Unit); !ok {
			return m.fail(at+".figures."+c.Name, "ingest.mapping.unit", measure.Figures{"figure": c.Name, "unit": short(c.Unit), "units": f.units()})
		}
		if c.isRange() {
			ranges++
		}
	}
	if ranges > 1 {
		return m.fail(at+".figures", "ingest.mapping.ranges", nil)
	}
	for _, o := range r.Options {
		if _, ok := optionField(test, o.Name); !ok {
			return m.fail(at+".options."+o.Name, "ingest.mapping.option", measure.Figures{"option": short(o.Name), "test": test})
		}
	}
	if err := m.checkLimits(at, r, test); err != nil {
		return err
	}
	for where, cells := range map[string]Cells{".figures": r.Figures, ".limits": r.Limits, ".factors": r.Factors, ".options": r.Options} {
		if err := m.checkCells(at+where, cells); err != nil {
			return err
		}
	}
	return nil
}

func tableTests() []measure.Test {
	return []measure.Test{measure.TestTCP, measure.TestUDP, measure.TestLatency, measure.TestConnect, measure.TestPing}
}

func (c Cell) isRange() bool { return c.Low != "" || c.High != "" }

// checkCells checks that each cell has one source.
func (m *Mapping) checkCells(at string, cells Cells) error {
	for _, c := range cells {
		if (c.Low == "") != (c.High == "") {
			return m.fail(yamlfile.Join(at, c.Name), "ingest.mapping.half_range", measure.Figures{"name": short(c.Name)})
		}
		sources := 0
		for _, s := range []string{c.Column, c.Value, c.Low} {
			if s != "" {
				sources++
			}
		}
		if sources != 1 {
			return m.fail(yamlfile.Join(at, c.Name), "ingest.mapping.source", measure.Figures{"name": short(c.Name)})
		}
		if c.isRange() && !strings.HasSuffix(at, ".figures") {
			return m.fail(yamlfile.Join(at, c.Name), "ingest.mapping.range", measure.Figures{"name": short(c.Name)})
		}
	}
	return nil
}

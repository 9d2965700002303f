package ingest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"

	"soku/internal/measure"
	_ "soku/internal/tests" // mappings name tests and their options
)

// maxMappingBytes and the other bounds keep a mapping file small.
const (
	maxMappingBytes = 1 << 20
	maxMapped       = 100 // results of one row
)

// Mapping is what a mapping file says: where factors come from, and how the
// columns of a table become results. Its tags are its only declaration;
// docs/reference/ingest.md describes them.
type Mapping struct {
	Campaign string   `yaml:"campaign"` // name of the campaign unless the command line gives one
	Title    string   `yaml:"title"`    // the question
	Source   string   `yaml:"source"`   // who measured or published the figures
	Tool     string   `yaml:"tool"`     // program that measured, for tables
	Version  string   `yaml:"version"`  // of it
	Started  string   `yaml:"started"`  // when it was measured: a day or RFC 3339
	Path     string   `yaml:"path"`     // pattern of paths, as --path-pattern
	Factors  Cells    `yaml:"factors"`  // of every result
	Results  []Mapped `yaml:"results"`  // what a row of a table holds
	Lacks    []string `yaml:"lacks"`    // what is known to be missing, beside what soku finds: codes or phrases

	file string
	text []byte
}

// noteMissing notes what the mapping says is missing.
func (m *Mapping) noteMissing(r *measure.Result) {
	for _, f := range measure.OfPhrases(m.Lacks) {
		r.Origin.Missing.AddOnce(f)
	}
}

// Mapped is one result of each row of a table. A figure whose cell is empty is
// absent; a row without the result's figures gives no result.
type Mapped struct {
	Label   string `yaml:"label"` // default: the test
	Test    string `yaml:"test"`
	Factors Cells  `yaml:"factors"`
	Options Cells  `yaml:"options"` // of the test, by their keys in a plan
	Client  Cell   `yaml:"client"`  // names of the ends
	Server  Cell   `yaml:"server"`
	Figures Cells  `yaml:"figures"`
}

// Cell says where a value comes from: a column, or the file itself.
type Cell struct {
	Column string `yaml:"column"`
	Value  string `yaml:"value"`
	Low    string `yaml:"low"`  // columns of a range: the smallest and the
	High   string `yaml:"high"` // largest of several trials
	Unit   string `yaml:"unit"`

	Name string `yaml:"-"` // key in its mapping
}

// Cells are cells by name in the order of the file.
type Cells []Cell

// UnmarshalYAML keeps the order of the file.
func (c *Cells) UnmarshalYAML(unmarshal func(any) error) error {
	var order yaml.MapSlice
	if err := unmarshal(&order); err != nil {
		return err
	}
	var cells map[string]Cell
	if err := unmarshal(&cells); err != nil {
		return err
	}
	for _, item := range order {
		name := fmt.Sprint(item.Key)
		cell := cells[name]
		cell.Name = name
		*c = append(*c, cell)
	}
	return nil
}

// ParseMapping reads the text of a mapping file. Errors are of kind file and
// begin with FILE:LINE:COLUMN.
func ParseMapping(file string, text []byte) (m *Mapping, err error) {
	m = &Mapping{file: file, text: text}
	if len(text) > maxMappingBytes {
		return nil, m.failAt(1, 1, "more than %d bytes", maxMappingBytes)
	}
	defer func() {
		if p := recover(); p != nil { // the parser's own defect on broken input
			m, err = nil, (&Mapping{file: file}).failAt(1, 1, "not YAML: %v", p)
		}
	}()
	if err := yaml.UnmarshalWithOptions(text, m, yaml.Strict()); err != nil {
		return nil, m.yamlError(err)
	}
	return m, m.check()
}

func (m *Mapping) failAt(line, column int, format string, args ...any) *measure.Error {
	return measure.Errorf(measure.KindFile, "%s:%d:%d: %s", m.file, max(line, 1), max(column, 1), fmt.Sprintf(format, args...)).
		WithHint("docs/reference/ingest.md describes the file")
}

// fail is an error about what stands at a path such as $.results[0].test.
func (m *Mapping) fail(path, format string, args ...any) *measure.Error {
	line, column := 1, 1
	if p, err := yaml.PathString(path); err == nil {
		if f, err := parser.ParseBytes(m.text, 0); err == nil {
			if node, err := p.FilterFile(f); err == nil && node.GetToken() != nil && node.GetToken().Position != nil {
				line, column = node.GetToken().Position.Line, node.GetToken().Position.Column
			}
		}
	}
	return m.failAt(line, column, format, args...)
}

func (m *Mapping) yamlError(err error) error {
	line, column, message := 1, 1, err.Error()
	var y yaml.Error
	if errors.As(err, &y) {
		message = y.GetMessage()
		if t := y.GetToken(); t != nil && t.Position != nil {
			line, column = t.Position.Line, t.Position.Column
		}
	}
	return m.failAt(line, column, "%s", short(message))
}

func (m *Mapping) check() error {
	if _, err := m.started(); err != nil {
		return err
	}
	if m.Path != "" {
		if _, err := ParsePathPattern(m.Path); err != nil {
			return m.fail("$.path", "%v", err)
		}
	}
	if len(m.Results) > maxMapped {
		return m.fail("$.results", "%d results of one row; at most %d", len(m.Results), maxMapped)
	}
	for i := range m.Results {
		if err := m.checkResult(i); err != nil {
			return err
		}
	}
	return m.checkCells("$.factors", m.Factors)
}

func (m *Mapping) checkResult(i int) error {
	at := fmt.Sprintf("$.results[%d]", i)
	r := &m.Results[i]
	test, err := measure.ParseTest(r.Test)
	if err != nil {
		return m.fail(at+".test", "%s", measure.AsError(err, measure.KindFile).Message)
	}
	if !slices.Contains(tableTests(), test) {
		return m.fail(at+".test", "a table holds no %s test; it holds tcp, udp, latency, connect and ping", test)
	}
	if r.Label == "" {
		r.Label = r.Test
	}
	if len(r.Figures) == 0 {
		return m.fail(at, "results[%d] has no figures", i)
	}
	ranges := 0
	for _, c := range r.Figures {
		f, known := figureOf(c.Name)
		if !known {
			return m.fail(at+".figures", "figure %q is not one of %s", c.Name, strings.Join(figureNames(), ", "))
		}
		if !f.fits(test) {
			return m.fail(at+".figures", "figure %s is not one of the %s test", c.Name, test)
		}
		if _, ok := f.unit(c.Unit); !ok {
			return m.fail(at+".figures", "figure %s: unit %q is not one of %s", c.Name, c.Unit, f.units())
		}
		if c.isRange() {
			ranges++
		}
	}
	if ranges > 1 {
		return m.fail(at+".figures", "two ranges in one result: which ends belong together is not known; make two results")
	}
	for _, o := range r.Options {
		if _, ok := optionField(test, o.Name); !ok {
			return m.fail(at+".options", "%q is no option of the %s test", o.Name, test)
		}
	}
	for where, cells := range map[string]Cells{".figures": r.Figures, ".factors": r.Factors, ".options": r.Options} {
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

// checkCells sees that each cell has one source.
func (m *Mapping) checkCells(at string, cells Cells) error {
	for _, c := range cells {
		if (c.Low == "") != (c.High == "") {
			return m.fail(at, "%s: a range has low and high", c.Name)
		}
		sources := 0
		for _, s := range []string{c.Column, c.Value, c.Low} {
			if s != "" {
				sources++
			}
		}
		if sources != 1 {
			return m.fail(at, "%s: give it a column, a value, or low and high", c.Name)
		}
		if c.isRange() && !strings.HasSuffix(at, ".figures") {
			return m.fail(at, "%s: only a figure can be a range", c.Name)
		}
	}
	return nil
}

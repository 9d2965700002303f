// Package outline is what a report shows, in the order in which it shows it: sections of blocks
// with sentences, tables and charts, without markup. The analysis makes it once, each format
// prints it. It is data: an outline is not changed after it was made, and may then be printed
// from several goroutines.
//
// Texts are in one language, may come from hosts and files, and are not escaped: printers remove
// control characters and escape what their format gives a meaning.
package outline

// Document is a report or some comparisons.
type Document struct {
	Title    string // empty for a part of another document
	Subtitle string
	DataURL  string // where a reader finds the data, http or https, or empty
	Sections []Section
}

// Section is a test, or what concerns all tests.
type Section struct {
	ID          string // unique in the document; letters, digits and dashes
	Title       string
	Heading     string // the title with what was measured, where a format has one line for both; empty: Title
	Description string // what was measured
	Blocks      []Block
}

// Fold is whether a reader opens a block, where a format can fold.
type Fold string

// Folds.
const (
	Always Fold = ""       // it cannot be folded
	Open   Fold = "open"   // until a reader closes it
	Closed Fold = "closed" // on a screen; open on paper
	Hidden Fold = "hidden" // closed on paper, too
)

// Block is a part of a section: its sentences, then its tables, then its charts. What it does not
// have is empty.
type Block struct {
	Key     string // what it shows, such as "ranking", with a heading; unique in the section
	Heading string
	Fold    Fold
	Place   Place
	Lines   []string
	Style   Style // of the lines
	Tables  []Table
	Charts  *Charts
}

// Place is who a block is for.
type Place string

// Places.
const (
	Body    Place = ""        // readers who want to know more than the answer
	Lead    Place = "lead"    // all readers: the answer and what shows it
	Details Place = "details" // those who check: a terminal has no room for it
)

// Lead returns the document with the blocks of that place alone.
func (d *Document) Lead() *Document {
	out := *d
	out.Sections = nil
	for _, s := range d.Sections {
		all := s.Blocks
		s.Blocks = nil
		for _, b := range all {
			if b.Place == Lead {
				s.Blocks = append(s.Blocks, b)
			}
		}
		if len(s.Blocks) > 0 {
			out.Sections = append(out.Sections, s)
		}
	}
	return &out
}

// Empty reports whether there is nothing in the block.
func (b *Block) Empty() bool {
	return len(b.Lines) == 0 && len(b.Tables) == 0 && b.Charts == nil
}

// Style is what lines are.
type Style string

// Styles.
const (
	Paragraphs Style = ""
	Answers    Style = "answers" // the first is the answer of the section, the others are further answers
	Caveats    Style = "caveats" // what a reader of the answers must know
	List       Style = "list"
	Tags       Style = "tags" // short texts
	Code       Style = "code" // one text of several lines in YAML
)

// Answer returns the answer of the section and the further answers, none if it has no answer.
func (s *Section) Answer() (answer string, further []string) {
	for _, b := range s.Blocks {
		if b.Style == Answers && len(b.Lines) > 0 {
			return b.Lines[0], b.Lines[1:]
		}
	}
	return "", nil
}

// Line is the heading where a format has one line for title and description.
func (s *Section) Line() string {
	if s.Heading != "" {
		return s.Heading
	}
	return s.Title
}

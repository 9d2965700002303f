package measure

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"

	"soku/internal/measure/finding"
)

// Where is the part of a trial that a finding is about: an end, or the flow of one
// [Direction]. Empty is the trial as a whole.
type Where string

// The ends of a trial.
const (
	AtClient Where = "client"
	AtServer Where = "server"
)

// Figures are what a finding or a failure rests on: numbers (float64), texts (string) and
// lists of texts ([]string) by key. A key carries its unit: _bps, _bytes, _ns, _ratio (0
// to 1), _per_second; a number without one is a count.
type Figures map[string]any

// Finding is one thing that the program found out, as data. The sentence that a
// person reads is made of it where it is shown.
type Finding struct {
	Code     finding.Code     `json:"code" jsonschema:"description=See docs/reference/findings.md"`
	Severity finding.Severity `json:"severity" jsonschema:"enum=note,enum=warning"`
	Where    Where            `json:"where,omitempty" jsonschema:"description=client or server (an end); forward or reverse (a flow); absent: the trial as a whole"`
	Figures  Figures          `json:"figures,omitempty" jsonschema:"description=Numbers and texts; units are in the key"`
	// Cause is the failure that the figure "error" writes in English.
	Cause *Error `json:"cause,omitempty" jsonschema:"description=The failure whose English text is the figure error"`
}

// NewFinding makes a finding of a code, with the severity that the code has. A
// figure that is neither a finite number nor a text is left out. The figure "error" may
// be an error; it is kept as text, and as the cause where it is an [Error].
func NewFinding(code finding.Code, where Where, figures Figures) Finding {
	f := Finding{Code: code, Severity: finding.Warning, Where: where}
	if err, ok := figures["error"].(error); ok {
		figures = maps.Clone(figures)
		figures["error"] = err.Error()
		if !errors.As(err, &f.Cause) || f.Cause.Error() != err.Error() {
			f.Cause = nil // a text around it
		}
	}
	f.Figures = figures.plain()
	if info, known := finding.Describe(code); known {
		f.Severity = info.Severity
	}
	return f
}

// TextFinding is what an earlier soku, or another program, says in a sentence of its own.
func TextFinding(sentence string) Finding {
	return NewFinding(finding.Text, "", Figures{"text": sentence})
}

// Text is the figure of that key if it is a text, otherwise empty.
func (f Finding) Text(key string) string {
	s, _ := f.Figures[key].(string)
	return s
}

// Number is the figure of that key if it is a number.
func (f Finding) Number(key string) (v float64, ok bool) {
	v, ok = f.Figures[key].(float64)
	return v, ok
}

// Equal reports whether both say the same.
func (f Finding) Equal(o Finding) bool {
	return f.Code == o.Code && f.Severity == o.Severity && f.Where == o.Where &&
		(len(f.Figures) == 0 && len(o.Figures) == 0 || reflect.DeepEqual(f.Figures, o.Figures))
}

// plain is f with every number as float64, every text and what else writes itself as
// string, and every list of texts as []string.
func (f Figures) plain() Figures {
	if len(f) == 0 {
		return nil
	}
	out := make(Figures, len(f))
	for key, value := range f {
		v := reflect.ValueOf(value)
		for v.Kind() == reflect.Pointer && !v.IsNil() {
			v = v.Elem()
		}
		switch {
		case !v.IsValid():
		case v.Kind() == reflect.String:
			out[key] = v.String()
		case v.CanInt():
			out[key] = float64(v.Int())
		case v.CanUint():
			out[key] = float64(v.Uint())
		case isText(value, v):
			out[key] = value.(fmt.Stringer).String()
		case v.Kind() == reflect.Slice:
			if texts := textsOf(v); texts != nil {
				out[key] = texts
			}
		case v.CanFloat() && !math.IsNaN(v.Float()) && !math.IsInf(v.Float(), 0):
			out[key] = v.Float()
		}
	}
	return out
}

// isText reports whether a value that is no number and no text writes itself as one, such
// as a netip.Addr.
func isText(value any, v reflect.Value) bool {
	_, ok := value.(fmt.Stringer)
	return ok && v.Kind() != reflect.Pointer && !v.CanInt() && !v.CanUint() && !v.CanFloat()
}

// textsOf are the texts of a list, or nil if an element is no text.
func textsOf(list reflect.Value) []string {
	if of := list.Type().Elem().Kind(); of != reflect.String && of != reflect.Interface {
		return nil
	}
	out := make([]string, list.Len())
	for i := range out {
		v := list.Index(i)
		if v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		if v.Kind() != reflect.String {
			return nil
		}
		out[i] = v.String()
	}
	return out
}

// UnmarshalJSON reads numbers, texts and lists of texts, and leaves out other values.
func (f *Figures) UnmarshalJSON(b []byte) error {
	var members map[string]any
	if err := json.Unmarshal(b, &members); err != nil {
		return err
	}
	*f = Figures(members).plain()
	return nil
}

// Findings are several, in the order in which they were found.
type Findings []Finding

// Add appends a finding of a code; see [NewFinding].
func (fs *Findings) Add(code finding.Code, where Where, figures Figures) {
	*fs = append(*fs, NewFinding(code, where, figures))
}

// AddOnce appends f unless an equal finding is there.
func (fs *Findings) AddOnce(f Finding) {
	for _, o := range *fs {
		if o.Equal(f) {
			return
		}
	}
	*fs = append(*fs, f)
}

// With returns the findings of a code.
func (fs Findings) With(code finding.Code) (out Findings) {
	for _, f := range fs {
		if f.Code == code {
			out = append(out, f)
		}
	}
	return out
}

// OfSentences are the findings of documents and messages of an earlier soku, which
// have a list "warnings" of sentences in the place of findings.
func OfSentences(sentences []string) (out Findings) {
	for _, s := range sentences {
		out = append(out, TextFinding(s))
	}
	return out
}

package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"time"

	"soku/internal/campaign/plan"
	"soku/internal/measure"
)

// Schema is the identity of the journal's format. Records of a kind that
// a program does not know are passed over.
const Schema = "soku.journal/1"

// Kinds of record.
const (
	RecordPlan          = "plan"            // the first record, once
	RecordStarted       = "started"         // a run began: this process works on the campaign from here on
	RecordTrialStarted  = "trial_started"   // a trial is about to begin
	RecordTrialFinished = "trial_finished"  // it left a result, perhaps an error
	RecordGroupFinished = "group_finished"  // all trials of a group left results
	RecordTrialDropped  = "trial_dropped"   // it was stopped, or skipped, and counts as not run
	RecordAborted       = "aborted"         // the trials that are left between two ends do not run in this run
	RecordRoundsAdded   = "rounds_added"    // the campaign has more rounds than its plan
	RecordRoundsMissed  = "rounds_missed"   // the campaign has fewer rounds: their times passed
	RecordTrialsCounted = "trials_counted"  // the campaign has so many trials: its searches did not need all that they could
	RecordConflict      = "conflict"        // the store has another result with the identity of one in the journal
	RecordCommand       = "command"         // a before or after command ended
	RecordChanged       = "changed_by_hand" // a person has set levels and confirmed it
	RecordEnded         = "ended"           // the run ended in good order
)

// Record is one line of a journal.
type Record struct {
	Kind  string         `json:"record"`
	At    time.Time      `json:"at"`
	Plan  *PlanRecord    `json:"plan,omitempty"`
	Run   *RunRecord     `json:"run,omitempty"`
	Trial *plan.TrialKey `json:"trial,omitempty"`
	Order int            `json:"order,omitempty"` // position in the round, of a trial
	Bytes int64          `json:"bytes,omitempty"` // payload the trial moved
	// ResultID is the identity of the result: of a trial that starts or is dropped, and of a
	// conflict. Journals of older versions do not have it.
	ResultID string         `json:"result_id,omitempty"`
	Repeats  string         `json:"repeats,omitempty"` // identity of the lost result that a trial that starts repeats
	Result   *Document      `json:"result,omitempty"`  // whole
	Group    []Record       `json:"group,omitempty"`   // the trial_finished records of a group
	Command  *CommandRecord `json:"command,omitempty"`
	Change   *ChangeRecord  `json:"change,omitempty"`
	Abort    *AbortRecord   `json:"abort,omitempty"`
	Rounds   int            `json:"rounds,omitempty"` // that were added or missed
	Trials   int            `json:"trials,omitempty"` // that they have, or the campaign
	// PlanRounds is how many rounds the plan has since then, where that is why they were added.
	PlanRounds int `json:"plan_rounds,omitempty"`
	// FromRound is the first round with all levels of the plan in Text, where levels were added to the
	// plan; the rounds before have the levels that it had then.
	FromRound int    `json:"from_round,omitempty"`
	Text      string `json:"text,omitempty"`
	Reason    string `json:"reason,omitempty"` // why a trial was dropped, trials were aborted or a run ended
	Code      string `json:"code,omitempty"`   // of the failure that is the reason
	// Error is that failure whole, or that of the run that ended; of several records for one reason the first has it. Journals of
	// older versions do not have it.
	Error *measure.Error `json:"error,omitempty"`
}

// PlanRecord is what the campaign is, for good.
type PlanRecord struct {
	Schema   string `json:"schema"`
	ID       string `json:"id"`
	Name     string `json:"name"`
	File     string `json:"file"`
	Text     string `json:"text"` // the plan as it was read
	SHA256   string `json:"sha256"`
	Seed     int64  `json:"seed"`
	Trials   int    `json:"trials"`
	Patterns int    `json:"patterns"`
	Rounds   int    `json:"rounds,omitempty"`  // of the plan, which may have them by default; 0 in a journal of an older version
	Version  string `json:"version,omitempty"` // of the program
	// Number is the order in which campaigns of one place were begun, from 1: clocks step.
	// 0 in a journal of an older version.
	Number int `json:"number,omitempty"`
}

// RunRecord is one run of the campaign.
type RunRecord struct {
	Session     *measure.Session `json:"session,omitempty"` // absent in a journal of an older version
	Only        plan.Selection   `json:"only,omitempty"`
	RetryFailed bool             `json:"retry_failed,omitempty"`
	Version     string           `json:"version,omitempty"`
	PID         int              `json:"pid"`
}

// CommandRecord is a before or after command that ran.
type CommandRecord struct {
	When     string           `json:"when"` // before or after
	Pattern  string           `json:"pattern"`
	Round    int              `json:"round"`
	Text     string           `json:"text"`
	Duration measure.Duration `json:"took_ns"`
	Output   string           `json:"output,omitempty"` // stdout and stderr, the last 64 KiB
	Error    string           `json:"error,omitempty"`
}

// Document is a result as a record holds it. Its identity and its error are
// decoded with the record, the rest only when [Document.Result] asks for it, so
// that a journal is read fast by those who need no figures.
type Document struct {
	ID    string
	Error *measure.Error

	result *measure.Result // nil until decoded
	raw    json.RawMessage // nil once there is a result
	load   func() (*measure.Result, error)
}

// Reference is the document of a result that is kept elsewhere: load reads it when it is asked for. load
// may be nil where nothing asks.
func Reference(id string, e *measure.Error, load func() (*measure.Result, error)) *Document {
	return &Document{ID: id, Error: e, load: load}
}

// NewDocument is the document of a result.
func NewDocument(r *measure.Result) *Document {
	return &Document{ID: r.ID, Error: r.Error, result: r}
}

// Result is the whole result.
func (d *Document) Result() (*measure.Result, error) {
	if d.result == nil && d.load != nil {
		return d.load() // not kept: a journal may refer to more than memory holds
	}
	if d.result == nil {
		r := new(measure.Result)
		if err := r.UnmarshalJSON(d.raw); err != nil { // json.Unmarshal would read it twice more
			return nil, err
		}
		d.result, d.raw = r, nil // of 100 MB one form is enough
	}
	return d.result, nil
}

// MarshalJSON writes the whole result.
func (d *Document) MarshalJSON() ([]byte, error) {
	if d.raw != nil {
		return d.raw, nil
	}
	r, err := d.Result()
	if err != nil {
		return nil, err
	}
	return json.Marshal(r)
}

// UnmarshalJSON keeps b, which must not change afterwards, and decodes the identity and the error.
func (d *Document) UnmarshalJSON(b []byte) error {
	var head struct {
		ID    string         `json:"id"`
		Error *measure.Error `json:"error"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return err
	}
	*d = Document{ID: head.ID, Error: head.Error, raw: b}
	return nil
}

// Bounds of a line. A result of a day with 1024 streams is far below maxRecord. The first line has
// the plan; a longer one is another document, of which no more is read.
const (
	maxRecord = 256 << 20
	maxFirst  = 32 << 20
)

// Read reads records and gives each to visit. It returns how many bytes
// hold whole records: what follows was cut off while it was written, and is to
// be dropped. A damaged line that others follow is an error of kind store, and
// so is a journal that a newer soku wrote; visit's error is returned as it is.
// It reads the lines before a damaged one, so a caller has their content.
func Read(r io.Reader, visit func(Record) error) (whole int64, err error) {
	lines := bufio.NewReaderSize(r, 64<<10)
	for number, most := 1, maxFirst; ; number, most = number+1, maxRecord {
		line, err := readLine(lines, most)
		if errors.Is(err, io.EOF) {
			return whole, nil // what has no line end was not finished
		}
		if errors.Is(err, errTooLong) {
			return whole, measure.Fail(measure.KindStore, "journal.line_too_long", measure.Figures{"line": number, "most_bytes": most})
		}
		if err != nil {
			return whole, err
		}
		rec, err := decodeRecord(line)
		if err != nil {
			if _, peek := lines.Peek(1); errors.Is(peek, io.EOF) {
				return whole, nil // a power cut can leave the last line's end and not its middle
			}
			damaged := measure.Fail(measure.KindStore, "journal.damaged", measure.Figures{"line": number, "whole_bytes": whole, "cause": err})
			if whole == 0 {
				return whole, damaged.WithHintCode("journal.nothing_whole", nil)
			}
			return whole, damaged
		}
		if rec.Plan != nil && rec.Plan.Schema != Schema {
			return whole, measure.Fail(measure.KindStore, "journal.schema", measure.Figures{"line": number, "schema": rec.Plan.Schema, "known": Schema})
		}
		length := int64(len(line)) + 1
		if err := visit(rec); err != nil {
			return whole, err
		}
		whole += length
	}
}

func decodeRecord(line []byte) (rec Record, err error) {
	if err := json.Unmarshal(line, &rec); err != nil {
		return rec, err
	}
	return rec, rec.Check()
}

// Check returns an error of kind store for a record that lacks what its kind has.
func (rec *Record) Check() error {
	unfinished := func(r Record) bool { return r.Trial == nil || r.Result == nil }
	switch {
	case rec.Kind == "":
		return measure.Fail(measure.KindStore, "journal.no_record", nil)
	case rec.Kind == RecordTrialFinished && unfinished(*rec):
		return measure.Fail(measure.KindStore, "journal.trial_without_result", nil)
	case rec.Kind == RecordGroupFinished && (len(rec.Group) == 0 || slices.ContainsFunc(rec.Group, unfinished)):
		return measure.Fail(measure.KindStore, "journal.group_without_results", nil)
	case rec.Kind == RecordPlan && rec.Plan == nil:
		return measure.Fail(measure.KindStore, "journal.plan_missing", nil)
	}
	return nil
}

var errTooLong = errors.New("the line is too long")

// readLine returns the next line of at most most bytes without its end, or io.EOF if no line end
// follows.
func readLine(r *bufio.Reader, most int) ([]byte, error) {
	var pieces [][]byte // joined at the end: a buffer that grows with the line leaves more garbage
	for n := 0; ; {
		part, err := r.ReadSlice('\n')
		switch n += len(part); {
		case err == nil:
			line := bytes.Join(append(pieces, part), nil)
			return line[:n-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case n > most:
			return nil, errTooLong
		}
		pieces = append(pieces, bytes.Clone(part))
	}
}

// encodeRecords is the records as lines with their ends.
func encodeRecords(records []Record) ([]byte, error) {
	var out []byte
	for _, rec := range records {
		line, err := json.Marshal(rec)
		if err == nil && bytes.IndexByte(line, '\n') >= 0 {
			err = measure.Fail(measure.KindInternal, "journal.several_lines", nil)
		}
		if err != nil {
			return nil, measure.Fail(measure.KindInternal, "journal.encode", measure.Figures{"record": rec.Kind, "cause": err})
		}
		out = append(append(out, line...), '\n')
	}
	return out, nil
}

// AbortRecord is a pair of ends whose trials do not run any more in this run.
type AbortRecord struct {
	Client   string `json:"client,omitempty"` // endpoint or endpoint.label; absent for this machine, "*": any
	Server   string `json:"server"`           // "*": any
	Failures int    `json:"failures"`         // identical ones in a row
}

// Confirmed is how a person confirmed a change by hand.
type Confirmed struct {
	How  string `json:"how"` // terminal, hub: asked there and answered; only: the selection says so
	User string `json:"user,omitempty"`
}

// Ways to confirm a change.
const (
	ConfirmedAtTerminal  = "terminal"
	ConfirmedAtHub       = "hub"
	ConfirmedBySelection = "only"
)

// ChangeRecord is a change by hand that was confirmed.
type ChangeRecord struct {
	Levels []measure.Level `json:"levels"` // of all factors that are changed by hand
	Confirmed
}

// ErrEnough ends the reading of a journal.
var ErrEnough = errors.New("enough of the journal is read")

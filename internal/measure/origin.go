package measure

import (
	"time"

	"soku/internal/measure/finding"
)

// Origin says where a result came from that soku did not measure but took over
// from another program's output or a published table (soku ingest). A figure of
// such a result is what that source says and never more: what it does not say is
// absent here too, and named in Missing.
type Origin struct {
	File        string    `json:"file" jsonschema:"description=Path of the file as given"`
	SHA256      string    `json:"sha256" jsonschema:"description=Of the whole file; hexadecimal"`
	Format      string    `json:"format" jsonschema:"description=Decoder that read it: iperf3\\, iperf2\\, ntttcp\\, ethr\\, ping\\, fping\\, sockperf\\, netperf\\, nuttcp\\, mtr\\, latte\\, psping\\, lagscope\\, cps or csv"`
	Record      int       `json:"record" jsonschema:"minimum=1,description=Number of the result in the file"`
	Line        int       `json:"line" jsonschema:"minimum=1,description=Line in the file where its record begins"`
	Part        string    `json:"part,omitempty" jsonschema:"enum=low,enum=high,description=The end of a range: the source gives only the smallest and the largest of several trials"`
	Round       int       `json:"round,omitempty" jsonschema:"minimum=1,description=Number of the round as the table has it\\, within the session; the trial's own is another where two sessions have the same number"`
	Tool        string    `json:"tool,omitempty" jsonschema:"description=Program that measured; absent if the source does not name it"`
	ToolVersion string    `json:"tool_version,omitempty"`
	Source      string    `json:"source,omitempty" jsonschema:"description=Who measured or published the figures\\, from the mapping file"`
	Question    string    `json:"question,omitempty" jsonschema:"description=Factor that the title of the source asks about\\, or limit\\, contention or patterns; from the mapping file"`
	End         string    `json:"end,omitempty" jsonschema:"enum=client,enum=server,description=The end of the run that wrote the file; absent if the source has both or does not name it"`
	Run         string    `json:"run,omitempty" jsonschema:"description=Identifier of the run at both ends: iperf3's cookie"`
	Other       *OtherEnd `json:"other,omitempty" jsonschema:"description=The file of the other end of the run\\, if the result is joined from both"`
	Limits      []Limit   `json:"limits,omitempty" jsonschema:"description=Documented limits that the source has beside the figures"`
	IngestedAt  time.Time `json:"ingested_at"`
	Missing     Findings  `json:"missing,omitempty" jsonschema:"description=What a result of soku has and this one does not"`
}

// Values of Origin.End.
const (
	EndClient = "client"
	EndServer = "server"
)

// OtherEnd says where the second half of a result came from: the file of the other end
// of the run.
type OtherEnd struct {
	File   string `json:"file" jsonschema:"description=Path of the file as given"`
	SHA256 string `json:"sha256" jsonschema:"description=Of the whole file; hexadecimal"`
	Record int    `json:"record" jsonschema:"minimum=1,description=Number of the result in the file"`
	Line   int    `json:"line" jsonschema:"minimum=1,description=Line in the file where its record begins"`
}

// phrases are how earlier versions wrote what is missing, in the member "lacks".
var phrases = map[string]finding.Code{
	"no samples over time":                                 finding.NoIntervals,
	"no receiver's samples over time: those of the sender": finding.IntervalsOfSender,
	"no receiver's count: goodput is the sender's figure":  finding.GoodputOfSender,
	"not known which end counted":                          finding.CounterUnknown,
	"no sender's count":                                    finding.NoSenderCount,
	"no exact figures: rounded as the program prints them": finding.RoundedFigures,
	"no figures of single streams":                         finding.NoStreams,
	"no retransmits":                                       finding.NoRetransmits,
	"no loss":                                              finding.NoLoss,
	"no histogram: only summary figures":                   finding.NoHistogram,
	"no histogram: percentiles of blocks of round trips, which cannot be put together": finding.PercentilesOfBlocks,
	"no percentiles": finding.NoPercentiles,
	"no mean of its own: time divided by the number of round trips": finding.MeanComputed,
	"no goodput of its own: bytes divided by time":                  finding.GoodputComputed,
	"only the smallest and the largest of several trials":           finding.OnlyRange,
	"no time of day: the file's stands for it":                      finding.TimeOfFile,
	"no version of the program":                                     finding.NoToolVersion,
	"no options of the program beside what the result names":        finding.NoOptions,
	"no floor of tool and host":                                     finding.NoBaseline,
	"no facts about the hosts":                                      finding.NoHostFacts,
}

// OfPhrases is what is missing, by codes, by phrases of earlier versions, which stand for
// codes, or by other phrases, which stay sentences.
func OfPhrases(list []string) (out Findings) {
	for _, p := range list {
		code, known := phrases[p]
		if !known {
			_, known = finding.Describe(finding.Code(p))
			code = finding.Code(p)
		}
		if known && code != finding.Text {
			out.AddOnce(NewFinding(code, "", nil))
			continue
		}
		f := TextFinding(p)
		f.Severity = finding.Note
		out.AddOnce(f)
	}
	return out
}

// RTTFigures are round trips as another program or a table sums them up, in
// nanoseconds. A figure that the source does not give is absent: nothing is
// computed from the others, and no histogram is made up from them.
type RTTFigures struct {
	Min    *float64 `json:"min,omitempty"`
	Mean   *float64 `json:"mean,omitempty"`
	P50    *float64 `json:"p50,omitempty"`
	P90    *float64 `json:"p90,omitempty"`
	P95    *float64 `json:"p95,omitempty"`
	P99    *float64 `json:"p99,omitempty"`
	P999   *float64 `json:"p99_9,omitempty"`
	P9999  *float64 `json:"p99_99,omitempty"`
	Max    *float64 `json:"max,omitempty"`
	StdDev *float64 `json:"std_dev,omitempty"`
	Count  int64    `json:"count,omitempty" jsonschema:"description=Number of round trips behind the figures; absent if unknown"`
}

// Percentile is the member of a percentile by its number, such as "99.9", or nil.
func (f *RTTFigures) Percentile(number string) **float64 {
	return map[string]**float64{"50": &f.P50, "90": &f.P90, "95": &f.P95, "99": &f.P99, "99.9": &f.P999, "99.99": &f.P9999}[number]
}

// IsRangeEnd reports whether a result is one end of a range, of which a source gives
// the smallest and the largest of several trials.
func (r *Result) IsRangeEnd() bool { return r.Origin != nil && r.Origin.Part != "" }

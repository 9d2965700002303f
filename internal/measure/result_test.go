package measure

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"soku/internal/measure/finding"
	"soku/test/schema"
)

var update = flag.Bool("update", false, "write the generated files anew")

const schemaFile = "../../docs/reference/result.schema.json"

func sampleResult() *Result {
	h := NewHistogram()
	for i := range int64(100_000) { // enough for every percentile
		h.Record(50_000 + i)
	}
	loss, jitter, floor, retransmits, softirq, cost := 0.001, 1200.5, 21_000.0, int64(3), 0.12, 0.4
	return &Result{
		Schema: Schema, ID: "0193aabbccdd01020304", Tool: Tool{Name: "soku", Version: "devel"}, Test: TestLatency,
		Trial: &Trial{Campaign: "c1", Pattern: "ultra", Levels: []Level{{"sku", "ultra"}}, Label: "rtt", Round: 1, Repeat: 1, Order: 2, Seed: 7,
			Pair: &Pair{Client: Endpoint{Name: "a"}, Server: Endpoint{Name: "b", Label: "vlan", Address: "10.0.0.2"}}, Group: &Group{ID: "1.2", Trials: 2, StartSkewNs: new(int64), StartSkewErrorNs: 1}, Session: &Session{ID: "s", Number: 1}},
		StartedAt: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC),
		Path:      Path{Client: Endpoint{Name: "a", Address: "10.0.0.1"}, Server: Endpoint{Name: "b", Address: "10.0.0.2", Label: "vlan"}, Direction: Forward},
		Options:   Options{Duration: 10e9, Interval: 1e9, Size: 64, Flows: 1, Via: "soku", Port: 7658, ConnectTimeout: 5e9},
		Summary:   Summary{RTT: h.Percentiles(), LossRatio: &loss, JitterNs: &jitter, FloorNs: &floor, CPUSecPerGB: &cost, Retransmits: &retransmits, DurationNs: 1e9, Confidence: High, ConfidenceFinding: &Finding{Code: finding.EnoughForTail, Severity: finding.Note, Figures: Figures{"round_trips": 1000.0}}},
		Flows:     []Flow{{Direction: Forward, Streams: []Stream{{Index: 0, TCP: &TCPInfo{Congestion: "cubic"}, Samples: []Sample{{EndNs: 1e9, ReceivedBytes: 5}}}}, Samples: []Sample{{EndNs: 1e8, ReceivedBytes: 1}}}},
		Latency: &Latency{Timing: &Timing{Loop: LoopClosed, Clock: ClockKernel, Wait: WaitSpinning, OwnThread: true}, ServerTiming: &Timing{Wait: WaitPoller}, Histogram: h, Sent: 1000, Received: 1000, Floor: &FloorReading{Clock: "monotonic"},
			Split: &Split{Stamps: StampsSoftware, HostSend: h, Interface: h, InterfaceNs: h.Percentiles(), Path: h, FarHost: h, HostReceive: h, Unsplit: 1}},
		Hosts: Hosts{Client: &Host{Facts: Facts{OS: "linux", Arch: "amd64", Offloads: map[string]bool{"tso": true}, Deployment: &Deployment{BootID: "x", InstanceID: "i-1"}}, Counters: &Counters{WallNs: 1, CoresUsed: 0.5, SoftirqRatio: &softirq}, Series: NewSeries(SeriesValues{AtNs: []int64{0, 100_000_000}, Columns: map[string][]int64{"process.run_ns": {70_000_000}}}), Floor: &HostFloor{
			MeasuredAt: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC),
			RoundTrips: []FloorRoundTrip{{Mode: "tcp", Protocol: "tcp", Timing: &Timing{Loop: LoopClosed}, RTT: *h.Percentiles()}},
			Goodput:    []FloorGoodput{{Mode: "path capacity", TXPath: "splice", RXPath: "discard", GoodputBps: 4e10, CPUSecPerGB: &cost, BpsPerCore: 2e10}},
			Packets:    []FloorPackets{{Mode: "udp", SizeBytes: 64, PacketsPerSecond: 4e5, LossRatio: &loss}},
			Timers:     []FloorTimer{{AskedNs: 50_000, LateNs: *h.Percentiles()}},
		}}},
		Verdict: &Verdict{LimitedBy: BottleneckPathPolicer, Confidence: Medium, Alternatives: []Bottleneck{BottleneckPacketRate}, Rule: "policer", NextMeasurement: ProbePacketSizes,
			Evidence: []Evidence{{Figure: "losses_per_recovery", Value: 8.5, Unit: "count", Comparison: ">=", Threshold: 3, Where: AtClient}}},
		Findings: Findings{NewFinding(finding.RTTNearBaseline, AtClient, Figures{"rtt_ns": 50_000.0, "baseline_ns": 21_000.0})},
		Error:    TextError(KindBroken, "connection reset", "run it again"),
	}
}

func TestAResultSurvivesWritingAndReading(t *testing.T) {
	want := sampleResult()
	first, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Result
	if err := json.Unmarshal(first, &got); err != nil {
		t.Fatal(err)
	}
	second, err := json.Marshal(&got)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) {
		t.Errorf("second writing differs:\n%s\n%s", first, second)
	}
	if got.Latency.Histogram.Percentile(99) != want.Latency.Histogram.Percentile(99) || got.Latency.Histogram.Count() != 100_000 {
		t.Error("the histogram lost values")
	}
}

func TestMembersThisVersionDoesNotKnowSurvive(t *testing.T) {
	b, err := json.Marshal(sampleResult())
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	// One new member at each depth: the document, an object, an element of an array, an object in that.
	for old, with := range map[string]string{
		`{"schema":`:           `{"future":{"deep":[1,2,{"x":null}]},"schema":`,
		`"tool":{`:             `"tool":{"build":"r2",`,
		`"flows":[{`:           `"flows":[{"colour":"red",`,
		`"tcp_info":{`:         `"tcp_info":{"ecn_marks":17,`,
		`"facts":{`:            `"facts":{"nic_queues":8,`,
		`"levels":[{`:          `"levels":[{"note":"n",`,
		`"summary":{`:          `"summary":{"rpm":900,`,
		`"error":{`:            `"error":{"peer":"b",`,
		`"findings":[{`:        `"findings":[{"since":"r2",`,
		`"clock":"monotonic"}`: `"clock":"monotonic","drift_ppm":2}`,
	} {
		if !strings.Contains(text, old) {
			t.Fatalf("the sample has no %s", old)
		}
		text = strings.Replace(text, old, with, 1)
	}
	var r Result
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	r.Findings = append(r.Findings, TextFinding("seen by an older soku"))
	again, err := json.Marshal(&r)
	if err != nil {
		t.Fatal(err)
	}
	var want, got map[string]any
	mustUnmarshal(t, []byte(text), &want)
	mustUnmarshal(t, again, &got)
	want["findings"] = append(want["findings"].([]any), map[string]any{
		"code": "text", "severity": "warning", "figures": map[string]any{"text": "seen by an older soku"},
	})
	if !reflect.DeepEqual(want, got) {
		t.Errorf("lost on the way:\n%s\n%s", text, again)
	}
}

func TestADocumentOfAnotherSchemaIsRefused(t *testing.T) {
	var r Result
	err := json.Unmarshal([]byte(`{"schema":"soku.result/9"}`), &r)
	if KindOf(err) != KindFile || !strings.Contains(err.Error(), "soku.result/9") {
		t.Errorf("got %v", err)
	}
}

func TestTheNamesScriptsCountOnAreThere(t *testing.T) {
	b, _ := json.Marshal(sampleResult())
	var doc map[string]any
	mustUnmarshal(t, b, &doc)
	for _, path := range []string{
		"schema", "test", "error.kind", "summary.retransmits", "summary.loss_ratio", "summary.jitter_ns", "summary.duration_ns", "summary.confidence",
		"summary.rtt_ns.min", "summary.rtt_ns.mean", "summary.rtt_ns.p50", "summary.rtt_ns.p90", "summary.rtt_ns.p95", "summary.rtt_ns.p99",
		"summary.rtt_ns.p99_9", "summary.rtt_ns.p99_99", "summary.rtt_ns.max", "summary.rtt_ns.count", "hosts.client", "options.duration_ns",
	} {
		var v any = doc
		for _, name := range strings.Split(path, ".") {
			m, _ := v.(map[string]any)
			v = m[name]
		}
		if v == nil {
			t.Errorf("%s is missing", path)
		}
	}
	known := fieldTypes(reflect.TypeFor[Summary]())
	for _, name := range []string{"goodput_bps", "sent_bytes", "received_bytes", "packets_per_second", "connections_per_second"} {
		if known[name] == nil {
			t.Errorf("summary.%s is missing", name)
		}
	}
}

// addOwnOptions adds the options of tests alone to the schema of the shared ones.
func addOwnOptions(options *jsonschema.Schema, reflector jsonschema.Reflector) {
	reflector.Anonymous, reflector.DoNotReference = true, true
	for _, t := range registered {
		if t.own == nil {
			continue
		}
		for p := reflector.ReflectFromType(t.own).Properties.Oldest(); p != nil; p = p.Next() {
			options.Properties.Set(p.Key, p.Value)
		}
	}
}

// testNames allows the tests that are registered.
func testNames() *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, t := range Tests() {
		s.Enum = append(s.Enum, string(t))
	}
	return s
}

// asJSON is the schema of a type that encodes itself like v.
func asJSON(v any) *jsonschema.Schema {
	inner := jsonschema.Reflector{AllowAdditionalProperties: true, Anonymous: true, DoNotReference: true}
	s := inner.Reflect(v)
	s.Version = ""
	return s
}

func resultSchema() *jsonschema.Schema {
	reflector := jsonschema.Reflector{
		// A reader must accept members a newer version added.
		AllowAdditionalProperties: true,
		Mapper: func(rt reflect.Type) *jsonschema.Schema {
			switch rt {
			case reflect.TypeFor[Test]():
				return testNames()
			case reflect.TypeFor[Duration]():
				return &jsonschema.Schema{Type: "integer", Description: "Nanoseconds"}
			case reflect.TypeFor[Rate]():
				return &jsonschema.Schema{Type: "integer", Description: "Bits per second"}
			case reflect.TypeFor[Size]():
				return &jsonschema.Schema{Type: "integer", Description: "Bytes"}
			case reflect.TypeFor[Figures]():
				return schema.Figures()
			case reflect.TypeFor[Histogram]():
				return asJSON(&histogramJSON{})
			case reflect.TypeFor[Series]():
				return asJSON(&SeriesValues{})
			}
			return nil
		},
	}
	s := reflector.Reflect(&Result{})
	addOwnOptions(s.Definitions["Options"], reflector)
	s.ID = "soku.result/1"
	s.Title = "soku result"
	return s
}

func TestThePublishedSchemaIsTheTypes(t *testing.T) {
	schema.UpToDate(t, schemaFile, schema.Text(t, resultSchema()), *update)
}

func TestResultsHoldToThePublishedSchema(t *testing.T) {
	s := schema.Compile(t, schemaFile)
	b, _ := json.Marshal(sampleResult())
	doc, err := validator.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(doc); err != nil {
		t.Errorf("a full result: %v", err)
	}
	doc.(map[string]any)["test"] = "juggling"
	if s.Validate(doc) == nil {
		t.Error("a result of an unknown test passes")
	}
}

func TestHistogramsMergeAndClip(t *testing.T) {
	a, b := NewHistogram(), NewHistogram()
	a.Record(1000)
	b.Record(3000)
	b.Record(HistogramMax + 5)
	b.Record(-7)
	a.Merge(b)
	if a.Count() != 4 || a.Clipped() != 1 || a.Min() != 1 || a.Max() < HistogramMax*999/1000 {
		t.Errorf("count %d, clipped %d, min %d, max %d", a.Count(), a.Clipped(), a.Min(), a.Max())
	}
}

func TestAHistogramFromOutsideCannotNameItsOwnSize(t *testing.T) {
	other, err := hdr.New(1, 1<<40, 4).Encode(hdr.V2CompressedEncodingCookieBase)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{"another range": string(other), "no data": "", "not base64": "%%%%", "cut off": string(other[:20])} {
		b, _ := json.Marshal(histogramJSON{Encoding: histogramEncoding, Data: data})
		if err := new(Histogram).UnmarshalJSON(b); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func FuzzHistogram(f *testing.F) {
	h := NewHistogram()
	for i := range int64(50) {
		h.Record(i * i * 1000)
	}
	for _, values := range []int64{0, 1, 1 << 20, 1 << 50} {
		_ = h.dense.RecordValues(HistogramMax, values) // numbers of one to eight bytes
		data, _ := h.dense.Encode(hdr.V2CompressedEncodingCookieBase)
		f.Add(string(data))
	}
	f.Fuzz(func(t *testing.T, data string) {
		b, _ := json.Marshal(histogramJSON{Encoding: histogramEncoding, Data: data})
		var got Histogram
		if got.UnmarshalJSON(b) != nil {
			return
		}
		dense, err := hdr.Decode([]byte(data))
		if err != nil {
			t.Fatalf("read, but %v", err)
		}
		wantAlike(t, &got, &Histogram{dense: dense})
	})
}

func FuzzResult(f *testing.F) {
	b, _ := json.Marshal(sampleResult())
	f.Add(b)
	f.Add([]byte(`{"schema":"soku.result/1","flows":[{"x":1}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		var r Result
		if json.Unmarshal(in, &r) != nil {
			return
		}
		if _, err := json.Marshal(&r); err != nil && r.Latency == nil {
			t.Errorf("read but cannot be written: %v", err)
		}
	})
}

func mustUnmarshal(t *testing.T, b []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
}

// A comma ends an option of the tag: those of a description are escaped.
func TestNoDescriptionInTheSchemaIsCut(t *testing.T) {
	cut := regexp.MustCompile(`jsonschema:"[^"]*description=[^"]*[^\\"],[^"=]*"`)
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, tag := range cut.FindAllString(string(source), -1) {
			t.Errorf("%s: a comma without \\\\ ends the description: %s", file, tag)
		}
	}
}

package floor

import (
	"bytes"
	"flag"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/text"
	"soku/test/schema"
)

var update = flag.Bool("update", false, "write the generated files anew")

const schemaFile = "../../docs/reference/floor.schema.json"

func sample() *Document {
	rtt := measure.Percentiles{Min: 1, Mean: 2, P50: 2, P90: 3, P95: 3, P99: 4, P999: 5, P9999: 6, Max: 7, Count: 8}
	loss, cost := 0.01, 0.4
	return &Document{
		Schema: Schema, Tool: measure.Tool{Name: "soku", Version: "v1.2.3"}, TookNs: 7e9,
		HostFloor: measure.HostFloor{
			MeasuredAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
			RoundTrips: []measure.FloorRoundTrip{{Mode: "tcp", Protocol: "tcp", Timing: &measure.Timing{Loop: measure.LoopClosed}, RTT: rtt}},
			Goodput:    []measure.FloorGoodput{{Mode: "path capacity", TXPath: "splice", RXPath: "discard", Congestion: "cubic", GoodputBps: 4e10, CPUSecPerGB: &cost, BpsPerCore: 2e10}},
			Packets:    []measure.FloorPackets{{Mode: "udp", SizeBytes: 64, PacketsPerSecond: 3e5, LossRatio: &loss, SenderNsPerPacket: 2000, ReceiverNsPerPacket: 1500}},
			Timers:     []measure.FloorTimer{{AskedNs: 50_000, LateNs: rtt}},
		},
		Findings: measure.Findings{measure.NewFinding(finding.HostLoaded, "", measure.Figures{"load_1m": 3, "cpus": 2})},
		Host:     measure.Facts{Hostname: "vm1", OS: "linux", Arch: "amd64", Kernel: "6.1", CPUModel: "EPYC", CPUs: 2},
	}
}

func TestADocumentSurvivesWritingAndReading(t *testing.T) {
	b, err := sample().Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(b)
	if err != nil || !reflect.DeepEqual(got, sample()) {
		t.Errorf("%v\n%+v\n%+v", err, got, sample())
	}
}

func TestAnInvalidDocumentIsRefused(t *testing.T) {
	for name, change := range map[string]func(*Document){
		"another schema":  func(d *Document) { d.Schema = "soku.floor/9" },
		"no time":         func(d *Document) { d.MeasuredAt = time.Time{} },
		"negative":        func(d *Document) { d.Goodput[0].GoodputBps = -1 },
		"beyond all":      func(d *Document) { d.Packets[0].PacketsPerSecond = 1e19 },
		"a negative wait": func(d *Document) { d.Timers[0].LateNs.P99 = -5 },
		"too many":        func(d *Document) { d.RoundTrips = make([]measure.FloorRoundTrip, maxEntries+1) },
		"a long name":     func(d *Document) { d.RoundTrips[0].Mode = strings.Repeat("x", maxText+1) },
	} {
		d := sample()
		change(d)
		b, err := d.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(b); measure.KindOf(err) != measure.KindFile || !strings.Contains(err.Error(), "run: soku floor") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range map[string]string{"cut off": `{"schema":"soku.floor/1"`, "nothing": "", "huge": `"` + strings.Repeat("x", maxDocument) + `"`} {
		if _, err := Decode([]byte(text)); measure.KindOf(err) != measure.KindFile {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestABaselineOfAnotherSystemIsNotUsed(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(*measure.Facts)
		version string
		want    string
	}{
		{"the same", func(*measure.Facts) {}, "v1.2.3", ""},
		{"not all could be read", func(f *measure.Facts) { f.CPUModel, f.Kernel = "", "" }, "v1.2.3", ""},
		{"load and memory change", func(f *measure.Facts) { f.Load1, f.MemoryBytes = 3, 5 }, "v1.2.3", ""},
		{"another soku", func(*measure.Facts) {}, "v1.2.4", "soku was v1.2.3 and is now v1.2.4"},
		{"another kernel", func(f *measure.Facts) { f.Kernel = "6.2" }, "v1.2.3", "the kernel was 6.1 and is now 6.2"},
		{"another size", func(f *measure.Facts) { f.CPUs = 8 }, "v1.2.3", "the number of processors was 2 and is now 8"},
		{"another processor", func(f *measure.Facts) { f.CPUModel = "Xeon" }, "v1.2.3", "the processor was EPYC and is now Xeon"},
	} {
		d := sample()
		now := d.Host
		c.change(&now)
		why, usable := d.Usable(now, c.version)
		if usable != (c.want == "") || !usable && text.English().SentenceOf(why) != c.want {
			t.Errorf("%s: %v %+v, want %q", c.name, usable, why, c.want)
		}
	}
}

func TestEachHostHasItsOwnFileWithAPortableName(t *testing.T) {
	for host, want := range map[string]string{
		"vm1": "floor-vm1.json", "VM1.example.com": "floor-vm1.example.com.json", "a/../b c": "floor-a_.._b_c.json",
		"": "floor-.json", strings.Repeat("x", 300): "floor-" + strings.Repeat("x", 200) + ".json",
	} {
		if got := File(host); got != want {
			t.Errorf("%q: %q, want %q", host, got, want)
		}
	}
}

func documentSchema() *jsonschema.Schema {
	reflector := jsonschema.Reflector{
		AllowAdditionalProperties: true,
		Mapper: func(rt reflect.Type) *jsonschema.Schema {
			switch rt {
			case reflect.TypeFor[measure.Duration]():
				return &jsonschema.Schema{Type: "integer", Description: "Nanoseconds"}
			case reflect.TypeFor[measure.Size]():
				return &jsonschema.Schema{Type: "integer", Description: "Bytes"}
			case reflect.TypeFor[measure.Figures]():
				return schema.Figures()
			}
			return nil
		},
	}
	s := reflector.Reflect(&Document{})
	s.ID, s.Title = Schema, "soku floor"
	return s
}

func TestThePublishedSchemaMatchesTheTypesAndADocument(t *testing.T) {
	schema.UpToDate(t, schemaFile, schema.Text(t, documentSchema()), *update)
	s := schema.Compile(t, schemaFile)
	b, err := sample().Encode()
	if err != nil {
		t.Fatal(err)
	}
	instance, err := validator.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(instance); err != nil {
		t.Errorf("a full document: %v", err)
	}
	instance.(map[string]any)["goodput"] = "fast"
	if s.Validate(instance) == nil {
		t.Error("a goodput in words passes")
	}
}

func FuzzDecode(f *testing.F) {
	b, _ := sample().Encode()
	f.Add(b)
	f.Add([]byte(`{"schema":"soku.floor/1","measured_at":"2026-01-02T03:04:05Z","goodput":[{"goodput_bps":1e99}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		d, err := Decode(in)
		if err != nil {
			return
		}
		if _, err := d.Encode(); err != nil {
			t.Errorf("read but cannot be written: %v", err)
		}
		d.Usable(measure.Facts{}, "v1")
		File(d.Host.Hostname)
	})
}

package option_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"soku/internal/engine/ping"
	"soku/internal/engine/probe"
	"soku/internal/engine/tcp"
	"soku/internal/measure"
	"soku/internal/measure/option"
)

func TestOptionsOfATestAloneStandBesideTheSharedOnes(t *testing.T) {
	o := option.Defaults(measure.TestPing)
	b, err := json.Marshal(o)
	if err != nil || !strings.Contains(string(b), `"size_bytes":56`) || !strings.Contains(string(b), `"spacing_ns":100000000`) {
		t.Fatalf("%s, %v", b, err)
	}
	var back measure.Options
	if err := json.Unmarshal(b, &back); err != nil || back != o {
		t.Errorf("%+v, %v; want %+v", back, err, o)
	}
	for _, text := range []string{`{}`, `null`, `{"size_bytes":5}`} {
		var none measure.Options
		if err := json.Unmarshal([]byte(text), &none); err != nil || none.Own != nil {
			t.Errorf("%s: %+v, %v", text, none, err)
		}
	}
	if json.Unmarshal([]byte(`{"spacing_ns":"soon"}`), &back) == nil {
		t.Error("a spacing that is no number was read")
	}
}

func TestCopiesOfOptionsShareNothing(t *testing.T) {
	var spacing option.Field
	for _, f := range option.Fields(measure.TestPing) {
		if f.Key == "spacing" {
			spacing = f
		}
	}
	first := option.Defaults(measure.TestPing)
	second := first
	if err := spacing.Edit(&second, func(p any) error { return p.(*measure.Duration).Set("1s") }); err != nil {
		t.Fatal(err)
	}
	if first.Own.(ping.Options).Spacing.Std() != 100*time.Millisecond || second.Own.(ping.Options).Spacing.Std() != time.Second {
		t.Errorf("%+v and %+v", first.Own, second.Own)
	}
	if err := spacing.Edit(&second, func(p any) error { return p.(*measure.Duration).Set("never") }); err == nil || second.Own.(ping.Options).Spacing.Std() != time.Second {
		t.Errorf("%v; %+v", err, second.Own)
	}
}

func TestAnOptionOfATestAloneIsCheckedAndBelongsToItAlone(t *testing.T) {
	o := option.Defaults(measure.TestPing)
	o.Own = ping.Options{}
	if _, err := option.Effective(o, measure.TestPing); err == nil || !strings.Contains(err.Error(), "spacing 0s: out of range; allowed: 1ms..1h0m0s") {
		t.Errorf("%v", err)
	}
	o = option.Defaults(measure.TestTCP)
	o.Own = ping.Options{Spacing: measure.Duration(time.Second)}
	if _, err := option.Effective(o, measure.TestTCP); err == nil || !strings.Contains(err.Error(), "spacing does not apply to the tcp test; it is for: ping") {
		t.Errorf("%v", err)
	}
	o = option.Defaults(measure.TestPing)
	o.Own = nil // as a program without the option writes it
	if got, err := option.Effective(o, measure.TestPing); err != nil || got != option.Defaults(measure.TestPing) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestUnknownMembersOfOptionsSurvive(t *testing.T) {
	const document = `{"schema":"soku.result/1","id":"x","test":"ping","options":{"spacing_ns":5000000,"later":[1]}}`
	var r measure.Result
	if err := json.Unmarshal([]byte(document), &r); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(&r)
	if err != nil || !strings.Contains(string(b), `"later":[1]`) || strings.Count(string(b), "spacing_ns") != 1 {
		t.Errorf("%s, %v", b, err)
	}
}

func TestOptionsOfTwoTestsInOneDocumentAreRefused(t *testing.T) {
	var o measure.Options
	if err := json.Unmarshal([]byte(`{"spacing_ns":5000000,"to_port":80}`), &o); measure.KindOf(err) != measure.KindUsage {
		t.Errorf("%v: %+v", err, o)
	}
	if err := json.Unmarshal([]byte(`{"to_port":80}`), &o); err != nil {
		t.Fatal(err)
	}
	if _, err := option.Effective(o, measure.TestPing); err == nil || !strings.Contains(err.Error(), "to_port does not apply to the ping test; it is for: connect") {
		t.Errorf("%v", err)
	}
}

func TestOptionsOfATestAloneStandAmongThoseOfATrialInHelp(t *testing.T) {
	var keys []string
	for _, f := range option.Fields(measure.TestConnect) {
		keys = append(keys, f.Key)
	}
	if at := slices.Index(keys, "close"); at < slices.Index(keys, "request_rate") || at > slices.Index(keys, "dscp") {
		t.Errorf("the order is %v", keys)
	}
}

func TestTestsOfOneKindHaveTheSameOptionsWithTheirOwnDefaults(t *testing.T) {
	for test, kind := range map[measure.Test]string{measure.TestTrace: "udp", measure.TestMTU: "icmp"} {
		o := option.Defaults(test)
		if got := probe.OptionsOf(o); got.MaxHops != 30 {
			t.Errorf("%s: %+v", test, got)
		}
		var names []measure.Test
		for _, f := range option.Fields(test) {
			if f.Key == "max_hops" {
				names = f.Tests()
			}
		}
		if !slices.Equal(names, []measure.Test{measure.TestTrace, measure.TestMTU}) {
			t.Errorf("max_hops of %s is for %v", test, names)
		}
		o.Own = nil
		if got, err := option.Effective(o, test); err != nil || probe.OptionsOf(got).Probe != kind {
			t.Errorf("%s: %+v, %v", test, got, err)
		}
	}
}

func TestOwnOptionsThatAreAllZeroReadAsTheyWereWritten(t *testing.T) {
	o, err := option.Effective(option.Defaults(measure.TestTCP), measure.TestTCP)
	if err != nil {
		t.Fatal(err)
	}
	given := o
	given.Own = tcp.Options{}
	if given, err = option.Effective(given, measure.TestTCP); err != nil || given != o {
		t.Errorf("%+v, %v; want %+v", given, err, o)
	}
	var back measure.Options
	if b, err := json.Marshal(o); err != nil || json.Unmarshal(b, &back) != nil || back != o {
		t.Errorf("%s is %+v, want %+v", b, back, o)
	}
}

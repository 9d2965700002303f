package cli

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/trial"
	"soku/test/schema"
	"soku/test/tier"
)

// unclear is a trial whose verdict needs datagrams at half its goodput.
func unclear() *measure.Result {
	r := &measure.Result{Schema: measure.Schema, ID: "019000000001aaaaaaaa", Test: measure.TestTCP, Options: option.Defaults(measure.TestTCP)}
	r.Summary.GoodputBps = 4e6 // half of it is lost nowhere on this host
	r.Verdict = &measure.Verdict{
		LimitedBy: measure.BottleneckPathPolicer, Alternatives: []measure.Bottleneck{measure.BottleneckPathLoss}, Confidence: measure.Medium, Rule: "policer_few",
		NextMeasurement: measure.ProbeHalfRate, Evidence: []measure.Evidence{{Figure: "loss_ratio", Value: 0.01, Unit: "ratio", Comparison: ">=", Threshold: 0.0005}},
	}
	return r
}

// told are the rules that may hold: a busy host may lose a datagram.
var told = []string{"half_passes", "half_is_lost_too"}

// explainer is a test that was run by hand against a server on this host.
func explainer(t *testing.T, flags measureFlags) (m measuring, out *bytes.Buffer) {
	t.Helper()
	address := startServer(t, nil)
	sys, out, _ := fakeSystem(t)
	return measuring{sys: sys, flags: &flags, spec: trial.Spec{Test: measure.TestTCP, Host: address, Version: "1"}}, out
}

func TestExplainMeasuresWhatTellsAndKeepsIt(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	m, out := explainer(t, measureFlags{})
	if err := m.explain(t.Context(), unclear()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"to explain  UDP datagrams at half the rate", "1 trial, about", "of datagrams lost at 2", " (high): loss at half the rate"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	m.sys.Args = []string{"show", "last", "--json"}
	out.Reset()
	if code := Run(m.sys); code != 0 {
		t.Fatalf("show: status %d, %s", code, m.sys.Stderr)
	}
	var r measure.Result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	e := r.Explains
	if r.Test != measure.TestUDP || e == nil || e.Result != unclear().ID || e.Step != "half_rate" || e.Verdict == nil || !slices.Contains(told, e.Verdict.Rule) {
		t.Errorf("stored: %s %+v", r.Test, e)
	}
}

func TestExplainPrintsOneDocument(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	m, out := explainer(t, measureFlags{json: true, noSave: true})
	if err := m.explain(t.Context(), unclear()); err != nil {
		t.Fatal(err)
	}
	published := schema.Compile(t, explanationFile)
	if err := schema.Check(published, out.Bytes()); err != nil {
		t.Error(err)
	}
	if schema.Check(published, bytes.Replace(out.Bytes(), []byte(`"limited_by": "`), []byte(`"limited_by": 7, "or_by": "`), 1)) == nil {
		t.Error("a limit that is a number passes")
	}
	var e explanation
	if err := json.Unmarshal(out.Bytes(), &e); err != nil {
		t.Fatal(err)
	}
	if e.Schema != explanationSchema || e.Result.ID != unclear().ID || len(e.Trials) != 1 || e.Trials[0].Summary.PacketsSent == 0 || !slices.Contains(told, e.Verdict.Rule) {
		t.Errorf("%+v", e)
	}
}

func TestExplainMeasuresNothingWhereTheTrialTells(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		verdict *measure.Verdict
		want    string
	}{
		"a clear one": {&measure.Verdict{LimitedBy: measure.BottleneckPathShaper, Confidence: measure.High}, "nothing more to measure"},
		"none":        {nil, "nothing to explain"},
	} {
		m, out := explainer(t, measureFlags{})
		r := unclear()
		r.Verdict = c.verdict
		if err := m.explain(t.Context(), r); err != nil || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: %v %s", name, err, out)
		}
	}
}

// What was measured before an error stays, and is told.
func TestExplainKeepsWhatItMeasuredBeforeAnError(t *testing.T) {
	t.Parallel()
	m, out := explainer(t, measureFlags{json: true})
	m.spec.Host = "127.0.0.1:1"
	r := unclear()
	r.Options.Port = 1
	err := m.explain(t.Context(), r)
	if invalid := schema.Check(schema.Compile(t, explanationFile), out.Bytes()); invalid != nil {
		t.Error(invalid)
	}
	var e explanation
	if jsonErr := json.Unmarshal(out.Bytes(), &e); measure.KindOf(err) != measure.KindUnreachable || jsonErr != nil || e.Result.ID != r.ID || len(e.Trials) != 1 || e.Verdict.Rule != "policer_few" {
		t.Errorf("%v, %v: %+v", err, jsonErr, e)
	}
}

func TestExplainNeedsASokuServer(t *testing.T) {
	t.Parallel()
	sys, _, errs := fakeSystem(t, "tcp", "127.0.0.1", "--via", "iperf3", "--explain")
	if code := Run(sys); code != 2 || !strings.Contains(errs.String(), "--explain needs a soku server") {
		t.Errorf("status %d: %s", code, errs)
	}
}

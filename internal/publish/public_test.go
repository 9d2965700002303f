package publish

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"soku/internal/catalog"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/report"
	"soku/internal/store"
	"soku/internal/store/memory"
	"soku/internal/text"
)

// mark sets every text in a value to one that names its field.
func mark(v reflect.Value, name string, depth int) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.Type().Elem().Kind() == reflect.Struct && depth < 8 && v.Type() != reflect.TypeFor[*measure.Histogram]() && v.Type() != reflect.TypeFor[*measure.Series]() {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			mark(v.Elem(), name, depth+1)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Uint8 && depth < 8 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			mark(v.Index(0), name, depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if _, words := f.Tag.Lookup("enum"); f.IsExported() && !words {
				mark(v.Field(i), v.Type().Name()+"."+f.Name, depth)
			}
		}
	case reflect.Map:
		if v.Type().Key().Kind() == reflect.String && (v.Type().Elem().Kind() == reflect.String || v.Type().Elem().Kind() == reflect.Interface) {
			v.Set(reflect.MakeMap(v.Type()))
			for _, key := range []string{"cause", "text", "address", "path", "user", "name"} {
				v.SetMapIndex(reflect.ValueOf(key).Convert(v.Type().Key()), reflect.ValueOf("MARK"+name+".end"))
			}
		}
	case reflect.Interface:
		if !v.IsNil() {
			own := reflect.New(v.Elem().Type()).Elem()
			own.Set(v.Elem())
			for i := range own.NumField() {
				if _, words := own.Type().Field(i).Tag.Lookup("enum"); own.Field(i).Type() == reflect.TypeFor[string]() && !words {
					own.Field(i).SetString("MARKOwn.end")
				}
			}
			v.Set(own)
		}
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() {
			v.SetString("MARK" + name + ".end")
		}
	}
}

// marked is a store with a campaign of every test, in whose results every text is marked, and names
// and addresses of hosts are where people may have written them, too.
func marked(t *testing.T) (store.Store, store.Campaign) {
	t.Helper()
	s, c := memory.New(), store.Campaign{ID: "c1", Name: "study", Title: "from secret-vm at 10.20.30.40", Plan: "campaign: MARKPlan.end\n"}
	if err := s.PutCampaign(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, test := range measure.Tests() {
		for i, level := range []string{"fast", "secret-vm", "10.20.30.40:5201", "fe80::1%eth0", "00:11:22:33:44:55", "ultra of secret-vm", "failed"} {
			var r measure.Result
			o, err := option.Effective(option.Defaults(test), test)
			if err != nil {
				t.Fatal(err)
			}
			r.Options.Own = o.Own
			mark(reflect.ValueOf(&r).Elem(), "Result", 0)
			n++
			r.Schema, r.ID, r.Test, r.StartedAt = measure.Schema, fmt.Sprintf("%020d", n), test, time.Date(2026, 1, 2, 3, 0, n, 0, time.UTC)
			r.Trial.Campaign, r.Trial.Name, r.Trial.Label, r.Trial.Round, r.Trial.Repeat, r.Trial.Order = c.ID, c.Name, string(test), 1, 1, i+1
			r.Trial.Levels = []measure.Level{{Factor: "sku", Value: level}}
			r.Trial.Pattern, r.Trial.Session = level, nil
			r.Trial.Pair.Client, r.Trial.Pair.Server = measure.Endpoint{Name: "secret-office"}, measure.Endpoint{Name: "secret-vm"}
			r.Summary.GoodputBps, r.Summary.ConnectionsPerSecond, r.Summary.PathMTUBytes = float64(n)*1e6, float64(n), 1400
			r.Origin = nil
			if test == measure.TestPing {
				r.Origin = &measure.Origin{Tool: "ping", File: "/home/MARKUser.end/out.txt", Source: "a page about secret-vm"}
			}
			if level != "failed" {
				r.Error = nil
			}
			if err := s.Put(t.Context(), &r); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s, c
}

// everyFormat is what all formats write of a report.
func everyFormat(t *testing.T, r *report.Report) string {
	t.Helper()
	var all strings.Builder
	for _, f := range Formats {
		printed := func(page []byte, _ string) ([]byte, error) { return page, nil }
		files, err := f.Files(r, FileName(r.Campaign), Options{Catalogue: text.English(), Print: printed})
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			fmt.Fprintf(&all, "\n%s: ", file.Name)
			if f.Name != "xlsx" {
				all.Write(file.Data)
				continue
			}
			parts, err := zip.NewReader(bytes.NewReader(file.Data), int64(len(file.Data)))
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range parts.File {
				in, err := part.Open()
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.Copy(&all, in)
			}
		}
	}
	return all.String()
}

var markers = regexp.MustCompile(`MARK[A-Za-z0-9.]+?\.end`)

func TestAPublicReportHasNoMarkedText(t *testing.T) {
	s, c := marked(t)
	secrets := []string{"secret-vm", "secret-office", "10.20.30.40", "fe80::1", "00:11:22:33:44:55"}
	private, err := Campaign(t.Context(), catalog.Builtin(), s, c, "")
	if err != nil {
		t.Fatal(err)
	}
	before := everyFormat(t, private)
	for _, secret := range append(secrets, "MARKPlan.end", "MARKTraceNode.Address.end", "MARKError.Figures.end", "MARKUser.end") {
		if !strings.Contains(before, secret) && secret != "MARKUser.end" {
			t.Errorf("%s is in no format: the test shows nothing of it", secret)
		}
	}
	public, err := PublicCampaign(t.Context(), catalog.Builtin(), s, c, "")
	if err != nil {
		t.Fatal(err)
	}
	out := everyFormat(t, public)
	for _, secret := range secrets {
		if i := strings.Index(out, secret); i >= 0 {
			t.Errorf("%s is public: %q", secret, out[max(i-80, 0):min(i+80, len(out))])
		}
	}
	// Machines, systems and programs are what is published.
	allowed := regexp.MustCompile(`^MARK(?:Facts\.(?:CPUModel|ClockSource|Congestion|Distribution|Driver|Governor|Interface|Kernel|OS|Arch|Qdisc|Sysctl|Virtual)|Cloud\.(?:InstanceType|Provider|Region|Zone)|NIC\.(?:Driver|DriverVersion|Firmware|Model)|Disk\.(?:Model|Scheduler)|Tool\.(?:Name|Version|Protocol)|Timing\..*|Options\.(?:Congestion|DSCP)|Endpoint\.Label|MTUFlow\.Limit|PathMTU\..*|Trace\..*|CopyPlace\.(?:FileSystem|Sync)|Floor.*|(?:Error|Finding)\.(?:Code|HintCode)|Latency\.Method|Flow\..XPath)\.end$`)
	for _, found := range markers.FindAllString(out, -1) {
		if !allowed.MatchString(found) {
			t.Errorf("%s is public", found)
		}
	}
	for _, want := range []string{"host A", "host B", "fast", "ultra of host B", "MARKFacts.CPUModel.end"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in the report", want)
		}
	}
}

// A plan names hosts, orders patterns and has a control: a public report has the same order and figures.
func TestAPublicReportHasTheFiguresOfTheOther(t *testing.T) {
	s, c := marked(t)
	private, err := Campaign(t.Context(), catalog.Builtin(), s, c, "")
	if err != nil {
		t.Fatal(err)
	}
	public, err := PublicCampaign(t.Context(), catalog.Builtin(), s, c, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(public.Tests) != len(private.Tests) {
		t.Fatalf("%d tests of %d", len(public.Tests), len(private.Tests))
	}
	for i, test := range public.Tests { // levels that are addresses stay apart
		if rows := len(private.Tests[i].Rows); len(test.Rows) != rows {
			t.Errorf("%s: %d rows of %d", test.Label, len(test.Rows), rows)
		}
	}
	estimates := func(r *report.Report) (out []float64) {
		for _, test := range r.Tests {
			for _, row := range test.Rows {
				for _, v := range row.Values {
					out = append(out, v.Value)
				}
			}
		}
		slices.Sort(out)
		return out
	}
	if a, b := estimates(public), estimates(private); !slices.Equal(a, b) || len(a) < 20 {
		t.Errorf("%v, and without --public %v", a, b)
	}
}

func TestAPublicReportFindsTheControlOfThePlan(t *testing.T) {
	p := newPublic()
	p.see(&measure.Result{Path: measure.Path{Server: measure.Endpoint{Name: "secret-vm"}}})
	in := report.Input{
		Patterns: [][]measure.Level{{{Factor: "to", Value: "secret-vm"}, {Factor: "streams", Value: "4"}}},
		Design:   report.Design{Control: func(levels []measure.Level) bool { return levels[0].Value == "secret-vm" }},
	}
	p.input(&in)
	// The report leaves out a factor that sets nothing in a test.
	for value, control := range map[string]bool{"host A": true, "host B": false} {
		if in.Design.Control([]measure.Level{{Factor: "to", Value: value}}) != control {
			t.Errorf("%s is the control: %v", value, !control)
		}
	}
}

// A level that is the name of a host has another name in a public report, and stays the baseline.
func TestTheBaselineOfThePlanIsThatOfItsReport(t *testing.T) {
	s, c := marked(t)
	c.Plan = "campaign: study\nendpoints: {vm: {address: 10.0.0.4}}\nto: vm\nfactors: {sku: [fast, secret-vm]}\nbaseline: {sku: secret-vm}\ntests: {tcp: {test: tcp, duration: 1s}}\n"
	private, err := Campaign(t.Context(), catalog.Builtin(), s, c, "")
	if err != nil {
		t.Fatal(err)
	}
	public, err := PublicCampaign(t.Context(), catalog.Builtin(), s, c, "")
	if err != nil {
		t.Fatal(err)
	}
	for want, r := range map[string]*report.Report{"× sku secret-vm": private, "× sku host B": public} {
		var page bytes.Buffer
		if err := r.Markdown(&page, text.English()); err != nil || !strings.Contains(page.String(), want) {
			t.Errorf("no %q (%v) in:\n%s", want, err, page.String()[:min(page.Len(), 3000)])
		}
	}
}

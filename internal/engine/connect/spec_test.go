package connect

import (
	"fmt"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/option"
)

func TestSourcesAreAddressesOfOneFamily(t *testing.T) {
	got, err := ParseSources("10.0.0.1, [::ffff:10.0.0.2],10.0.0.3")
	if err != nil || fmt.Sprint(got) != "[10.0.0.1 10.0.0.2 10.0.0.3]" {
		t.Errorf("%v, %v", got, err)
	}
	many := make([]string, MaxSources+1)
	for i := range many {
		many[i] = fmt.Sprintf("10.0.%d.1", i)
	}
	for text, want := range map[string]string{
		"10.0.0.1,":             `"" is not an IP address`,
		"vm2":                   `"vm2" is not an IP address`,
		"10.0.0.1,::1":          "of different families",
		"10.0.0.1,10.0.0.1":     "is there twice",
		strings.Join(many, ","): "65 addresses",
	} {
		if _, err := ParseSources(text); measure.KindOf(err) != measure.KindUsage || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestAThirdPartyPortHasLimits(t *testing.T) {
	effective := func(own Options, change func(*measure.Options)) (measure.Options, error) {
		o := option.Defaults(measure.TestConnect)
		o.Own = own
		change(&o)
		return option.Effective(o, measure.TestConnect)
	}
	asIs := func(*measure.Options) {}
	foreign := Options{Close: "auto", Entry: "auto", ToPort: 443}
	o, err := effective(foreign, asIs)
	if err != nil || o.RequestRate != 100 || option.NeedsServer(o, measure.TestConnect) {
		t.Errorf("%+v, %v", o, err)
	}
	if again, err := option.Effective(o, measure.TestConnect); err != nil || again != o {
		t.Errorf("effective options are not their own: %+v, %v", again, err)
	}
	if o, err := effective(Options{Close: "auto", Entry: "auto"}, asIs); err != nil || o.RequestRate != 0 || !option.NeedsServer(o, measure.TestConnect) {
		t.Errorf("%+v, %v", o, err)
	}
	viaEthr := func(o *measure.Options) { o.Via = option.ViaEthr }
	for want, c := range map[string]struct {
		own    Options
		change func(*measure.Options)
	}{
		"exceeds the limit for third-party servers": {foreign, func(o *measure.Options) { o.RequestRate = 10_001 }},
		"size and to_port exclude":                  {foreign, func(o *measure.Options) { o.Size = 1 }},
		"entry main and to_port exclude":            {Options{Close: "auto", Entry: "main", ToPort: 443}, asIs},
		"bind and sources exclude":                  {Options{Close: "auto", Entry: "auto", Sources: "10.0.0.2"}, func(o *measure.Options) { o.Bind = "10.0.0.1" }},
		"to_port 65536: out of range":               {Options{Close: "auto", Entry: "auto", ToPort: 65_536}, asIs},
		"to_port does not go with via ethr":         {foreign, viaEthr},
		"entry main does not go with via ethr":      {Options{Close: "auto", Entry: "main"}, viaEthr},
	} {
		if _, err := effective(c.own, c.change); measure.KindOf(err) != measure.KindUsage || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

package measure

import (
	"fmt"
	"strings"
	"testing"
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
		if _, err := ParseSources(text); KindOf(err) != KindUsage || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestAPortOfSomebodyElsesIsSpared(t *testing.T) {
	effective := func(change func(*Options)) (Options, error) {
		o := Defaults(TestConnect)
		change(&o)
		return o.Effective(TestConnect)
	}
	o, err := effective(func(o *Options) { o.ToPort = 443 })
	if err != nil || o.RequestRate != 100 || o.NeedsServer(TestConnect) {
		t.Errorf("%+v, %v", o, err)
	}
	if again, err := o.Effective(TestConnect); err != nil || again != o {
		t.Errorf("effective options are not their own: %+v, %v", again, err)
	}
	if o, err := effective(func(*Options) {}); err != nil || o.RequestRate != 0 || !o.NeedsServer(TestConnect) {
		t.Errorf("%+v, %v", o, err)
	}
	for want, change := range map[string]func(*Options){
		"exceeds the limit for third-party servers": func(o *Options) { o.ToPort, o.RequestRate = 443, 10_001 },
		"size and to_port exclude":                  func(o *Options) { o.ToPort, o.Size = 443, 1 },
		"entry main and to_port exclude":            func(o *Options) { o.ToPort, o.Entry = 443, "main" },
		"bind and sources exclude":                  func(o *Options) { o.Bind, o.Sources = "10.0.0.1", "10.0.0.2" },
		"to_port 65536: out of range":               func(o *Options) { o.ToPort = 65_536 },
	} {
		if _, err := effective(change); KindOf(err) != KindUsage || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

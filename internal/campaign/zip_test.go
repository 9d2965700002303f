package campaign_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"soku/internal/campaign"
	"soku/internal/measure"
)

// zipped is a plan of three factors, to which tests add zip.
const zipped = `campaign: zipped
endpoints: {t1: {address: 10.0.0.1}, t2: {address: 10.0.0.2}, o1: {address: 10.0.0.3}, o2: {address: 10.0.0.4}}
factors:
  client: [{name: tokyo, from: t1}, {name: osaka, from: o1}]
  streams: [1, 16]
  server: [{name: T, to: t2}, {name: O, to: o2}]
tests: {up: {test: tcp}}
`

func TestLevelsOfZippedFactorsGoTogether(t *testing.T) {
	for zip, want := range map[string]string{
		"zip: [[client, server]]\n":                                                            "tokyo / 1 / T; tokyo / 16 / T; osaka / 1 / O; osaka / 16 / O",
		"zip: [[server, client]]\n":                                                            "tokyo / 1 / T; tokyo / 16 / T; osaka / 1 / O; osaka / 16 / O",
		"zip: [[client, streams, server]]\n":                                                   "tokyo / 1 / T; osaka / 16 / O",
		"zip: [[client, server]]\nexclude: [{client: tokyo, streams: 16}]\n":                   "tokyo / 1 / T; osaka / 1 / O; osaka / 16 / O",
		"zip: [[client, server]]\npatterns: [{server: O, streams: 1}, {client: tokyo}]\n":      "osaka / 1 / O; tokyo / 1 / T; tokyo / 16 / T",
		"zip: [[client, server]]\npatterns: [{server: [O, T], client: [osaka], streams: 1}]\n": "osaka / 1 / O",
		"zip: []\nexclude: [{streams: 16}, {client: osaka}]\n":                                 "tokyo / 1 / T; tokyo / 1 / O",
	} {
		if got := patternNames(parse(t, zipped+zip)); got != want {
			t.Errorf("with %spatterns are %s\nwant         %s", zip, got, want)
		}
	}
}

func TestErrorsOfZipNameThePlace(t *testing.T) {
	for _, c := range []struct{ zip, want string }{
		{"zip: [[client, sevrer]]\n", `p.yaml:8:16: zip.1.2: there is no factor "sevrer"; did you mean server?`},
		{"zip: [[client]]\n", "p.yaml:8:7: zip.1: an entry of zip has fewer than two factors; name those whose levels go together"},
		{"zip: [[client, client]]\n", `p.yaml:8:16: zip.1.2: factor "client" is in zip twice`},
		{"zip:\n  - [client, server]\n  - [streams, server]\n", `p.yaml:10:15: zip.2.2: factor "server" is in zip twice; name all factors that go together in one entry`},
		{"zip: [client, server]\n", `p.yaml:8:7: zip.1: expected a list, found "client"`},
		{"zipp: [[client, server]]\n", `p.yaml:8:1: unknown key "zipp"; did you mean zip?`},
		{"zip: [[client, server]]\npatterns: [{client: tokyo}, {client: tokyo, server: O}]\n",
			"p.yaml:9:29: patterns.2: no combination of levels has all of this; levels of factors under zip: go together"},
	} {
		_, err := campaign.Parse("p.yaml", []byte(zipped+c.zip))
		if err == nil || !strings.Contains(err.Error(), c.want) || measure.KindOf(err) != measure.KindFile {
			t.Errorf("with %serror is %v\nwant     %s", c.zip, err, c.want)
		}
	}
	_, err := campaign.Parse("p.yaml", []byte(strings.Replace(zipped, "[1, 16]", "[1, 4, 16]", 1)+"zip: [[client, streams, server]]\n"))
	want := "p.yaml:8:7: zip.1: factors that go together have different numbers of levels: client 2, streams 3, server 2; give them as many levels each"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error is %v\nwant     %s", err, want)
	}
}

func TestAZippedFactorMayNameWhatTheOthersSet(t *testing.T) {
	text := minimal + "factors: {class: [S, L], streams: [1, 16]}\nzip: [[class, streams]]\n"
	if got := patternNames(parse(t, text)); got != "S / 1; L / 16" {
		t.Errorf("patterns are %s", got)
	}
	for _, c := range []struct{ text, want string }{
		{strings.Replace(text, "zip: [[class, streams]]\n", "", 1), `factor "class" sets nothing: its levels S and L`},
		{minimal + "factors: {a: [x, y, z], b: [1, 2, {name: 3, to: vm}]}\nzip: [[a, b]]\n", `factor "a" sets nothing: its levels x and y differ`},
	} {
		if _, err := campaign.Parse("p.yaml", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("for\n%s\nerror is %v\nwant     %s", c.text, err, c.want)
		}
	}
	parse(t, minimal+"factors: {a: [x, y], b: {by: hand, levels: [p, q]}}\nzip: [[a, b]]\n")
}

func TestANameVariesATestAsTheFactorsThatItGoesWith(t *testing.T) {
	text := `campaign: c
endpoints: {vm: {address: 10.0.0.4}}
to: vm
tests: {up: {test: tcp}, rtt: {test: latency, count: 20}}
factors: {class: [S, L], streams: [1, 16]}
zip: [[class, streams]]
`
	want := map[string][]string{"rtt": {"class", "streams"}}
	if got := parse(t, text).Unvaried(); !reflect.DeepEqual(got, want) {
		t.Errorf("without effect are %v, want %v", got, want)
	}
}

func TestZippedFactorsAreFewPatterns(t *testing.T) {
	var b strings.Builder
	b.WriteString(minimal + "factors:\n")
	var names []string
	for i := range 20 {
		names = append(names, fmt.Sprintf("f%d", i))
		fmt.Fprintf(&b, "  f%d: {by: hand, levels: [a, b, c, d, e, f, g, h, i, j]}\n", i)
	}
	b.WriteString("zip: [[" + strings.Join(names, ", ") + "]]\n")
	if n := len(parse(t, b.String()).AllPatterns()); n != 10 {
		t.Errorf("%d patterns", n)
	}
	// Levels that do not go together: those of other factors are not tried in vain.
	for _, first := range []string{"f0", "f18"} {
		text := strings.Replace(b.String(), "zip: [["+strings.Join(names, ", "), "zip: [["+first+", f19", 1) + "patterns: [{" + first + ": a, f19: b}]\n"
		if _, err := campaign.Parse("p.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), "patterns.1: no combination of levels has all of this") {
			t.Errorf("error is %v", err)
		}
	}
}

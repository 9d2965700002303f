package measure

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestDetailsAreMembersOfTheFactsAndNoUnknownOnes(t *testing.T) {
	var r Result
	document := `{"schema":"soku.result/1","hosts":{"client":{"facts":{"os":"linux","cloud":{"provider":"azure"},"newer":1}}}}`
	if err := json.Unmarshal([]byte(document), &r); err != nil {
		t.Fatal(err)
	}
	f := &r.Hosts.Client.Facts
	if f.Cloud == nil || f.Cloud.Provider != "azure" {
		t.Fatalf("facts %+v", f)
	}
	f.Cloud = nil
	out, err := json.Marshal(&r)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(out), "azure") || !strings.Contains(string(out), `"newer":1`) {
		t.Errorf("written again: %s", out)
	}
}

func TestALocationIsTheZoneWithItsRegion(t *testing.T) {
	for want, c := range map[string]Cloud{
		"":                              {Provider: "azure"},
		"westeurope":                    {Region: "westeurope"},
		"westeurope 2 (westeurope-az3)": {Region: "westeurope", Zone: "2", PhysicalZone: "westeurope-az3"},
		"us-east-1a (use1-az6)":         {Region: "us-east-1", Zone: "us-east-1a", PhysicalZone: "use1-az6"},
		"nova":                          {Zone: "nova"},
	} {
		if got := c.Location(); got != want {
			t.Errorf("%+v is at %q, want %q", c, got, want)
		}
	}
}

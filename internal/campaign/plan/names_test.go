package plan

import (
	"strings"
	"testing"
)

func TestNamesAreLettersAndDigitsOfAnyScriptWithSomePunctuation(t *testing.T) {
	for _, c := range []struct {
		name               string
		campaign, endpoint bool
	}{
		{"a", true, true}, {"7", true, true}, {"test-1_b", true, true}, {"高性能", true, true}, {"Ärger", true, true}, {"A\u0308rger", true, true},
		{"v1.2", true, false}, // a dot separates endpoint and address
		{"", false, false}, {"-a", false, false}, {".a", false, false}, {"\u0308a", false, false}, {"a b", false, false}, {"a/b", false, false},
		{"a\n", false, false}, {"a\xff", false, false}, {"../x", false, false},
		{strings.Repeat("測", 64), true, true}, {strings.Repeat("a", 65), false, false},
	} {
		if got := isCampaignName(c.name); got != c.campaign {
			t.Errorf("%q names a campaign: %v", c.name, got)
		}
		if got := IsEndpointName(c.name); got != c.endpoint {
			t.Errorf("%q names an endpoint: %v", c.name, got)
		}
	}
}

func TestHostsAreNamesAndAddresses(t *testing.T) {
	for host, want := range map[string]bool{
		"10.0.0.4": true, "fe80::1%eth0": true, "my-host_1.example": true, strings.Repeat("a", 255): true,
		"": false, "a b": false, "a/b": false, "a\n": false, "[::1]": false, "höst": false, strings.Repeat("a", 256): false,
	} {
		if got := isHost(host); got != want {
			t.Errorf("%q is a host: %v", host, got)
		}
	}
}

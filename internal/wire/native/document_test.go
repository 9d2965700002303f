package native

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// The page is normative, so its numbers and the code's must be the same.
func TestTheConstantsAreThoseOfTheSpecification(t *testing.T) {
	page, err := os.ReadFile("../../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	stated := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([A-Z][A-Za-z]+)` \\| ([0-9]+( [KM]iB| s)?) \\|").FindAllStringSubmatch(string(page), -1) {
		stated[row[1]] = row[2]
	}
	seconds := func(d time.Duration) string { return fmt.Sprintf("%d s", d/time.Second) }
	actual := map[string]string{
		"SniffTimeout": seconds(SniffTimeout), "AttachTimeout": seconds(AttachTimeout), "DataTimeout": seconds(DataTimeout),
		"StartTimeout": seconds(StartTimeout), "FinishGrace": seconds(FinishGrace), "ReattachTimeout": seconds(ReattachTimeout), "Overtime": seconds(Overtime),
		"Heartbeat": seconds(Heartbeat), "Silence": seconds(Silence), "EndTimeout": seconds(EndTimeout), "IdleTimeout": seconds(IdleTimeout),
		"MaxBody": fmt.Sprintf("%d KiB", MaxBody>>10), "MaxHeader": fmt.Sprintf("%d KiB", MaxHeader>>10),
		"MaxReply": fmt.Sprintf("%d KiB", MaxReply>>10), "MaxEvent": fmt.Sprintf("%d MiB", MaxEvent>>20),
		"MaxStreams": fmt.Sprint(MaxStreams),
	}
	for name, want := range actual {
		if stated[name] != want {
			t.Errorf("%s is %s, the page says %q", name, want, stated[name])
		}
	}
	for name := range stated {
		if _, ok := actual[name]; !ok {
			t.Errorf("the page names %s, which this test does not know", name)
		}
	}
	for _, word := range []string{Magic, DatagramMagic, Name, ProtocolHeader, fmt.Sprintf("%d bytes", PreambleSize), fmt.Sprintf("%d bytes", DatagramSize)} {
		if !strings.Contains(string(page), word) {
			t.Errorf("the page does not say %q", word)
		}
	}
}

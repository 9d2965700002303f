package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

const ingestSamples = "../ingest/testdata"

func TestBothEndsOfARunAreIngestedAsOne(t *testing.T) {
	client, server := filepath.Join(ingestSamples, "iperf3-3.12-tcp.json"), filepath.Join(ingestSamples, "iperf3-3.12-server.json")
	sys, out, errs := fakeSystem(t, "ingest", "--campaign", "both", "--json", client, server, client)
	if code := Run(sys); code != 0 {
		t.Fatalf("status %d: %s", code, errs)
	}
	var report ingestReport
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatal(err)
	}
	if report.New != 6 || report.Known != 1 || len(report.Files) != 3 {
		t.Fatalf("%d new, %d known: %s", report.New, report.Known, out)
	}
	c, s, again := report.Files[0], report.Files[1], report.Files[2]
	if len(c.Results) != 1 || c.Results[0].Other != server || c.Joined != 0 || len(s.Results) != 5 || s.Joined != 1 || len(again.Results) != 1 || !again.Results[0].Known {
		t.Errorf("%s", out)
	}
	shown, text, _ := fakeSystem(t, "show", c.Results[0].ID)
	shown.DataDir = sys.DataDir
	if code := Run(shown); code != 0 || !strings.Contains(text.String(), server+", line 1, the other end") || !strings.Contains(text.String(), "counted at the receiver") {
		t.Errorf("show: status %d\n%s", code, text)
	}
}

func TestPathsThatAreAlikeButForTheEndAreOneRun(t *testing.T) {
	xml := func(end string) string { return filepath.Join(ingestSamples, "ntttcp-"+end+".xml") }
	sys, out, errs := fakeSystem(t, "ingest", "--campaign", "pairs", "--path-pattern", "ntttcp-{end}.xml", xml("r"), xml("s"))
	if code := Run(sys); code != 0 || !strings.Contains(out.String(), "and "+xml("r")) || !strings.Contains(out.String(), "1 result went into campaign") {
		t.Fatalf("status %d: %s%s", code, errs, out)
	}
	json := func(end string) string { return filepath.Join(ingestSamples, "ntttcp-"+end+".json") }
	sys, out, errs = fakeSystem(t, "ingest", "--campaign", "pairs", "--path-pattern", "ntttcp-{end}.json", json("su"), json("r"), xml("s"))
	if code := Run(sys); code == 0 || !strings.Contains(errs.String(), "differs only in {end}: one is the test udp, the other tcp") || !strings.Contains(out.String(), "0 results went") {
		t.Errorf("status %d: %s%s", code, errs, out)
	}
}

package cli

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"soku/internal/ingest"
	"soku/internal/store"
)

// folderOf makes a folder with these samples, by path.
func folderOf(t *testing.T, samples map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for path, sample := range samples {
		data := []byte(sample)
		if strings.HasPrefix(sample, "@") {
			var err error
			if data, err = os.ReadFile(filepath.Join(ingestSamples, sample[1:])); err != nil {
				t.Fatal(err)
			}
		}
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// ingestedAs runs soku ingest with --json and returns its document.
func ingestedAs(t *testing.T, sys *System, args ...string) (report ingestReport, code int, errs string) {
	t.Helper()
	again, out, stderr := fakeSystem(t, append([]string{"ingest", "--json"}, args...)...)
	again.DataDir, again.Open = sys.DataDir, sys.Open
	again.Stdin, again.StdinTerminal = sys.Stdin, sys.StdinTerminal
	code = Run(again)
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), &report); err != nil {
			t.Fatal(err)
		}
	}
	return report, code, stderr.String()
}

func patternsOf(r ingestReport) string {
	var out []string
	for _, file := range r.Files {
		for _, one := range file.Results {
			out = append(out, one.Pattern)
		}
	}
	return strings.Join(out, "|")
}

var sizes = map[string]string{
	"D2/run1.json": "@iperf3-3.12-tcp.json", "D4/run1.json": "@iperf3-3.12-reverse.json", "notes.md": "about these files\n", "D2/picture.png": "\x89PNG\x00",
	".hidden/run1.json": "@iperf3-3.12-udp.json",
}

func TestAFolderIsIngestedWithoutTheFilesThatAreNotOutput(t *testing.T) {
	sys, _, _ := fakeSystem(t)
	dir := folderOf(t, sizes)
	report, code, errs := ingestedAs(t, sys, "--campaign", "x", "--path-pattern", "{size}/*", dir)
	if code != 0 || report.New != 2 || report.Foreign != 2 || report.Unread != 0 || patternsOf(report) != "D2|D4" {
		t.Errorf("status %d, %+v: %s", code, report, errs)
	}
	if err := os.WriteFile(filepath.Join(dir, "D4", "run2.json"), []byte(`{"start":`), 0o644); err != nil {
		t.Fatal(err)
	}
	report, code, errs = ingestedAs(t, sys, "--campaign", "x", "--path-pattern", "{size}/*", dir)
	if code != 10 || report.Known != 2 || report.Unread != 1 || !strings.Contains(errs, "run2.json:1: cut off") {
		t.Errorf("a file that is cut off: status %d, %+v: %s", code, report, errs)
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"empty":   {map[string]string{".x": "y"}, "a folder without files"},
		"foreign": {map[string]string{"a.md": "y", "b.md": "z"}, "none of 2 files is the output of a program that soku knows"},
	} {
		if _, code, errs := ingestedAs(t, sys, "--campaign", "x", folderOf(t, c.files)); code != 3 || !strings.Contains(errs, c.want) {
			t.Errorf("%s: status %d: %s", name, code, errs)
		}
	}
}

// Without a pattern results of D2/ and D4/ would be repeats of one pattern.
func TestFoldersWithoutAPatternAreOfferedAsAFactor(t *testing.T) {
	sys, _, _ := fakeSystem(t)
	dir := folderOf(t, sizes)
	files := []string{filepath.Join(dir, "D2/run1.json"), filepath.Join(dir, "D4/run1.json")}
	for name, args := range map[string][]string{"a folder": {dir}, "files": files} {
		report, code, errs := ingestedAs(t, sys, append([]string{"--campaign", "x"}, args...)...)
		if code != 2 || len(report.Files) != 0 || !strings.Contains(errs, "D2, D4") || !strings.Contains(errs, "--path-pattern '{folder}/*'") {
			t.Errorf("%s: status %d, %+v: %s", name, code, report, errs)
		}
	}
	report, code, errs := ingestedAs(t, sys, "--campaign", "repeats", "--path-pattern", "none", dir)
	if code != 0 || patternsOf(report) != "all|all" {
		t.Errorf("none: status %d, %q: %s", code, patternsOf(report), errs)
	}
	report, code, errs = ingestedAs(t, sys, append([]string{"--campaign", "single"}, files[0])...)
	if code != 0 || report.New != 1 {
		t.Errorf("one file: status %d: %s", code, errs)
	}
	for answer, want := range map[string][2]string{
		"size\n": {"D2|D4", "size"}, "\n": {"D2|D4", "folder"}, "-\n": {"all|all", ""}, "a{b\nsize\n": {"D2|D4", "size"},
	} {
		sys.StdinTerminal, sys.Stdin = func() bool { return true }, strings.NewReader(answer)
		report, code, errs := ingestedAs(t, sys, "--campaign", "asked", "--dry-run", dir)
		if code != 0 || patternsOf(report) != want[0] || !strings.Contains(errs, "the files lie in D2, D4: which factor") || strings.Contains(errs, "--path-pattern '{"+want[1]+"}/*'") != (want[1] != "") {
			t.Errorf("%q: status %d, %q: %s", answer, code, patternsOf(report), errs)
		}
	}
}

// Folders that two commands bring are offered as those of one command.
func TestAFolderOfASecondCommandIsOfferedAsAFactor(t *testing.T) {
	const question = "the files lie in D2, D4: which factor"
	for name, c := range map[string]struct {
		between func(dir string) error
		args    []string
		answer  string
		code    int
		want    string
		errs    string
	}{
		"without a terminal": {code: 2, errs: "D2, D4, which may be levels of a factor; ingest all of them with --path-pattern '{folder}/*' --replace"},
		"at a terminal":      {answer: "size\n", want: "D2|D4", errs: question},
		"repeats":            {answer: "-\n", want: "all", errs: question},
		"none":               {args: []string{"--path-pattern", "none"}, want: "all"},
		"a file that is gone": {
			between: func(dir string) error { return os.Remove(filepath.Join(dir, "D2/run1.json")) },
			answer:  "size\n", want: "D4", errs: "1 file of earlier commands is not there any more or changed",
		},
		"a file that has changed": {
			between: func(dir string) error { return os.WriteFile(filepath.Join(dir, "D2/run1.json"), []byte("{}"), 0o600) },
			answer:  "size\n", want: "D4", errs: "1 file of earlier commands is not there any more or changed",
		},
		"a level by hand": {args: []string{"--factor", "size=4"}, want: "4"},
	} {
		sys, _, _ := fakeSystem(t)
		dir := folderOf(t, map[string]string{"D2/run1.json": "@iperf3-3.12-tcp.json", "D4/run1.json": "@iperf3-3.1-tcp.json"})
		if report, code, errs := ingestedAs(t, sys, "--campaign", "x", filepath.Join(dir, "D2")); code != 0 || report.New != 1 {
			t.Fatalf("the first folder: status %d, %+v: %s", code, report, errs)
		}
		if c.between != nil {
			if err := c.between(dir); err != nil {
				t.Fatal(err)
			}
		}
		sys.StdinTerminal, sys.Stdin = func() bool { return c.answer != "" }, strings.NewReader(c.answer)
		report, code, errs := ingestedAs(t, sys, append([]string{"--campaign", "x", filepath.Join(dir, "D4")}, c.args...)...)
		if code != c.code || patternsOf(report) != c.want || !strings.Contains(errs, c.errs) || c.errs == "" && strings.Contains(errs, "D2") {
			t.Errorf("%s: status %d, patterns %q: %s", name, code, patternsOf(report), errs)
		}
		if c.want == "D2|D4" && (report.Replaced != 1 || report.New != 1) {
			t.Errorf("%s: %+v", name, report)
		}
	}
}

func TestAFolderOfASecondCommandThatCannotBeMistakenIsIngested(t *testing.T) {
	for name, c := range map[string]struct{ first, second, file string }{
		"the same folder":    {"D2/run1.json", "D2/run2.json", "@iperf3-3.1-tcp.json"},
		"folders of repeats": {"run1/x.json", "run2/x.json", "@iperf3-3.1-tcp.json"},
		"another test":       {"D2/run1.json", "D4/run1.json", "@iperf3-3.12-reverse.json"},
		"the same file":      {"D2/run1.json", "D4/run1.json", "@iperf3-3.12-tcp.json"},
		"deeper repeats":     {"D2/run1.json", "D2/run2/x.json", "@iperf3-3.1-tcp.json"},
	} {
		sys, _, _ := fakeSystem(t)
		dir := folderOf(t, map[string]string{c.first: "@iperf3-3.12-tcp.json", c.second: c.file})
		for _, path := range []string{c.first, c.second} {
			if report, code, errs := ingestedAs(t, sys, "--campaign", "x", filepath.Join(dir, path)); code != 0 || report.New+report.Known != 1 {
				t.Errorf("%s, %s: status %d, %+v: %s", name, path, code, report, errs)
			}
		}
	}
}

func TestFoldersThatAreRepeatsOfACampaignAreNotAskedForAgain(t *testing.T) {
	sys, _, _ := fakeSystem(t)
	dir := folderOf(t, map[string]string{"D2/x.json": "@iperf3-3.12-tcp.json", "D4/x.json": "@iperf3-3.1-tcp.json", "D8/x.json": "@iperf3-3.21-stream-tcp.json"})
	for _, args := range [][]string{{"--path-pattern", "none", filepath.Join(dir, "D2"), filepath.Join(dir, "D4")}, {filepath.Join(dir, "D8")}} {
		if report, code, errs := ingestedAs(t, sys, append([]string{"--campaign", "x"}, args...)...); code != 0 || report.New == 0 {
			t.Errorf("%q: status %d, %+v: %s", args, code, report, errs)
		}
	}
}

// Ingesting files again with a pattern gives their results its levels.
func TestIngestingAgainWithAPatternReplacesAfterAQuestion(t *testing.T) {
	sys, _, _ := fakeSystem(t)
	dir := folderOf(t, sizes)
	if _, code, errs := ingestedAs(t, sys, "--campaign", "x", "--path-pattern", "none", dir); code != 0 {
		t.Fatalf("status %d: %s", code, errs)
	}
	again := []string{"--campaign", "x", "--path-pattern", "{size}/*", dir}
	report, code, errs := ingestedAs(t, sys, again...)
	if code != 0 || report.Known != 2 || report.Other != 2 || report.Replaced != 0 || patternsOf(report) != "all|all" {
		t.Errorf("without a terminal: status %d, %+v: %s", code, report, errs)
	}
	sys.StdinTerminal, sys.Stdin = func() bool { return true }, strings.NewReader("n\n")
	report, code, errs = ingestedAs(t, sys, again...)
	if code != 0 || report.Known != 2 || report.Replaced != 0 || strings.Count(errs, "[y/N]") != 1 || !strings.Contains(errs, "as a result without levels; now it is size=D2. Replace all results of this command that are in the campaign with other levels?") {
		t.Errorf("no: status %d, %+v: %s", code, report, errs)
	}
	sys.Stdin = strings.NewReader("y\n")
	report, code, errs = ingestedAs(t, sys, again...)
	if code != 0 || report.Known != 0 || report.Replaced != 2 || report.New != 0 || patternsOf(report) != "D2|D4" {
		t.Errorf("yes: status %d, %+v: %s", code, report, errs)
	}
	sys.StdinTerminal = func() bool { return false }
	if report, _, _ = ingestedAs(t, sys, again...); report.Known != 2 || report.Other != 0 {
		t.Errorf("once more: %+v", report)
	}
	report, code, errs = ingestedAs(t, sys, "--replace", "--campaign", "x", "--path-pattern", "{vm}/*", dir)
	if code != 0 || report.Replaced != 2 || patternsOf(report) != "D2|D4" {
		t.Errorf("--replace: status %d, %+v: %s", code, report, errs)
	}
	list, out, _ := fakeSystem(t, "ls", "--campaigns", "--json")
	list.DataDir = sys.DataDir
	var campaigns []store.Campaign
	if code := Run(list); code != 0 || json.Unmarshal(out.Bytes(), &campaigns) != nil || len(campaigns) != 1 || campaigns[0].Done != 2 || campaigns[0].Patterns != 2 || campaigns[0].Failed != 0 {
		t.Errorf("status %d: %s", code, out)
	}
}

func TestAFailedResultThatIsReplacedCountsOnce(t *testing.T) {
	sys, _, _ := fakeSystem(t)
	dir := folderOf(t, map[string]string{"D2/run1.json": "@iperf3-3.12-refused.json"})
	for i, pattern := range []string{"{size}/*", "{vm}/*"} {
		if report, code, errs := ingestedAs(t, sys, "--replace", "--campaign", "x", "--path-pattern", pattern, dir); report.New != 1-i || report.Replaced != i {
			t.Fatalf("%s: status %d, %+v: %s", pattern, code, report, errs)
		}
	}
	list, out, _ := fakeSystem(t, "ls", "--campaigns", "--json")
	list.DataDir = sys.DataDir
	var campaigns []store.Campaign
	if code := Run(list); code != 0 || json.Unmarshal(out.Bytes(), &campaigns) != nil || len(campaigns) != 1 || campaigns[0].Done != 1 || campaigns[0].Failed != 1 {
		t.Errorf("status %d: %s", code, out)
	}
}

func TestTheSameFileInTwoFoldersIsReplacedOnce(t *testing.T) {
	sys, _, _ := fakeSystem(t)
	dir := folderOf(t, map[string]string{"D2/run1.json": "@iperf3-3.12-tcp.json", "D4/run1.json": "@iperf3-3.12-tcp.json"})
	for _, c := range []struct {
		pattern              string
		added, replaced      int
		patterns, campaignIs string
	}{{"{size}/*", 1, 0, "D2|D2", "size=D2"}, {"{vm}/*", 0, 1, "D2|D2", "vm=D2"}} {
		report, code, errs := ingestedAs(t, sys, "--replace", "--campaign", "x", "--path-pattern", c.pattern, dir)
		if code != 0 || report.New != c.added || report.Replaced != c.replaced || report.Known != 1 || report.Other != 0 || patternsOf(report) != c.patterns {
			t.Errorf("%s: status %d, %+v: %s", c.pattern, code, report, errs)
		} else if levels := levelsText(report.Files[1].Results[0].Levels); levels != c.campaignIs {
			t.Errorf("%s: %s", c.pattern, levels)
		}
	}
}

// brokenFolder is a folder that can be read in part.
type brokenFolder struct{ fs.ReadDirFile }

func (f brokenFolder) ReadDir(int) ([]fs.DirEntry, error) {
	return nil, errors.New("input/output error")
}

func TestAFolderThatCannotBeReadIsReportedAndTheOthersAreIngested(t *testing.T) {
	for name, broken := range map[string]func(fs.File) (fs.File, error){
		"opened": func(fs.File) (fs.File, error) { return nil, fs.ErrPermission },
		"listed": func(f fs.File) (fs.File, error) { return brokenFolder{f.(fs.ReadDirFile)}, nil },
	} {
		sys, _, _ := fakeSystem(t)
		dir := folderOf(t, map[string]string{"D2/run1.json": "@iperf3-3.12-tcp.json", "lost/run1.json": "@iperf3-3.12-reverse.json"})
		open := sys.Open
		sys.Open = func(path string) (fs.File, error) {
			f, err := open(path)
			if err == nil && filepath.Base(path) == "lost" {
				return broken(f)
			}
			return f, err
		}
		report, code, errs := ingestedAs(t, sys, "--campaign", "x", dir)
		if code != 10 || report.New != 1 || report.Unread != 1 || len(report.Files) != 2 || !strings.Contains(errs, "lost") {
			t.Errorf("%s: status %d, %+v: %s", name, code, report, errs)
		}
		report, code, errs = ingestedAs(t, sys, "--campaign", "y", filepath.Join(dir, "lost"))
		if code == 0 || report.New != 0 || !strings.Contains(errs, "lost") {
			t.Errorf("%s, alone: status %d, %+v: %s", name, code, report, errs)
		}
	}
}

func TestFoldersThatAreTooDeepAreAnError(t *testing.T) {
	sys, _, _ := fakeSystem(t)
	deep := func(folders int) string { return strings.Repeat("d/", folders) + "run1.json" }
	dir := folderOf(t, map[string]string{deep(15): "@iperf3-3.12-tcp.json"})
	if report, code, errs := ingestedAs(t, sys, "--campaign", "x", dir); code != 0 || report.New != 1 {
		t.Errorf("15 folders: status %d, %+v: %s", code, report, errs)
	}
	dir = folderOf(t, map[string]string{"run1.json": "@iperf3-3.12-tcp.json", deep(16): "@iperf3-3.12-reverse.json"})
	if report, code, errs := ingestedAs(t, sys, "--campaign", "y", "--path-pattern", "none", dir); code != 3 || report.New != 0 || !strings.Contains(errs, "more than 16 folders in one another") {
		t.Errorf("16 folders: status %d, %+v: %s", code, report, errs)
	}
}

func TestQuestionsAboutFoldersAreAskedAgainUntilTheAnswersFit(t *testing.T) {
	sys, _, _ := fakeSystem(t)
	sys.StdinTerminal = func() bool { return true }
	two := folderOf(t, map[string]string{"D2/east/run1.json": "@iperf3-3.12-tcp.json", "D4/west/run1.json": "@iperf3-3.12-reverse.json"})
	for _, c := range []struct{ dir, answers, pattern, says string }{
		{two, "size\nsize\nzone\n", "{size}/{zone}/*", "the name size twice"},
		{two, "folder2\n\nzone\n", "{folder2}/{zone}/*", "the name folder2 twice"},
		{two, "-\nzone\n", "*/{zone}/*", ""},
		{two, "a}{b\nsize\nx/y\nzone\n", "{size}/{zone}/*", "is no name for a factor"},
	} {
		sys.Stdin = strings.NewReader(c.answers)
		report, code, errs := ingestedAs(t, sys, "--campaign", "x", "--dry-run", c.dir)
		if code != 0 || report.New != 2 || !strings.Contains(errs, "--path-pattern '"+c.pattern+"'") || !strings.Contains(errs, c.says) {
			t.Errorf("%q: status %d, %+v: %s", c.answers, code, report, errs)
		}
	}
	sys.Stdin = strings.NewReader("size\n")
	if report, code, errs := ingestedAs(t, sys, "--campaign", "x", two); code == 0 || report.New != 0 || strings.Contains(errs, "no plan") || !strings.Contains(errs, "nothing is ingested") || !strings.Contains(errs, "--path-pattern") {
		t.Errorf("the end of the input: status %d, %+v: %s", code, report, errs)
	}
}

func TestFilesAreReadOnceIfNoQuestionFollows(t *testing.T) {
	sys, _, _ := fakeSystem(t)
	dir := folderOf(t, map[string]string{"run1/x.json": "@iperf3-3.12-tcp.json", "run2/x.json": "@iperf3-3.12-reverse.json"})
	opened := map[string]int{}
	open := sys.Open
	sys.Open = func(path string) (fs.File, error) {
		opened[path]++
		return open(path)
	}
	report, code, errs := ingestedAs(t, sys, "--campaign", "x", dir)
	if n := opened[filepath.Join(dir, "run1", "x.json")]; code != 0 || report.New != 2 || n != 1 {
		t.Errorf("status %d, read %d times, %+v: %s", code, n, report, errs)
	}
}

func TestFilesOfAFolderThatAreNoTextAreLeftOut(t *testing.T) {
	sys, _, _ := fakeSystem(t)
	dir := folderOf(t, map[string]string{
		"run1.json": "@iperf3-3.12-tcp.json", "empty.txt": "", "blank.txt": "\n \n", "note.txt": "Messung f\xfcr die n\xe4chste Woche\n",
		"trace.pcap": "\xd4\xc3\xb2\xa1\x02\x00\x04\x00" + strings.Repeat("x", ingest.MaxFileBytes),
	})
	report, code, errs := ingestedAs(t, sys, "--campaign", "x", dir)
	if code != 0 || report.New != 1 || report.Foreign != 4 || report.Unread != 0 {
		t.Errorf("status %d, %+v: %s", code, report, errs)
	}
	for name, want := range map[string]string{"empty.txt": "the file is empty", "note.txt": "neither UTF-8", "trace.pcap": "zero bytes"} {
		if _, code, errs := ingestedAs(t, sys, "--campaign", "y", filepath.Join(dir, name)); code == 0 || !strings.Contains(errs, want) {
			t.Errorf("%s, given itself: status %d: %s", name, code, errs)
		}
	}
	large := folderOf(t, map[string]string{"run1.json": "@iperf3-3.12-tcp.json", "utf16.txt": "\xff\xfe" + strings.Repeat("x\x00", ingest.MaxFileBytes/2), "large.txt": strings.Repeat("x", ingest.MaxFileBytes+1)})
	if report, code, errs := ingestedAs(t, sys, "--campaign", "z", large); code != 10 || report.Unread != 2 || strings.Count(errs, "more than ") != 2 {
		t.Errorf("large texts: status %d, %+v: %s", code, report, errs)
	}
}

package cli

import (
	"context"
	"encoding/json"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/text/language"

	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/measure/option"
	"soku/internal/text"
)

func japanese() *text.Catalogue { return text.For(language.Japanese) }

// failedTrial is the data folder of a store with a campaign whose newest trial failed.
func failedTrial(t *testing.T) (folder string) {
	t.Helper()
	sys, _, _ := fakeSystem(t)
	fillStore(t, sys)
	keepFailedTrial(t, sys)
	return sys.DataDir
}

// shown runs one command line on a data folder, for a person who reads the language of c.
func shown(t *testing.T, c *text.Catalogue, folder string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	sys, out, errs := fakeSystem(t, args...)
	sys.Catalogue, sys.DataDir = c, folder
	code = Run(sys)
	return out.String(), errs.String(), code
}

// The environment chooses the language as setlocale(3) does, with SOKU_LANG before its variables.
func TestTheEnvironmentChoosesTheLanguage(t *testing.T) {
	for _, c := range []struct{ environment, want string }{
		{"", "en"}, {"LANG=ja_JP.UTF-8", "ja"}, {"LANG=ja_JP.utf8@x", "ja"}, {"LANG=ja", "ja"}, {"LANG=ja-JP", "ja"}, {"LANG=C", "en"}, {"LANG=POSIX", "en"},
		{"LANG=C.UTF-8", "en"}, {"LANG=fr_FR.UTF-8", "en"}, {"LANG=jam_JM.UTF-8", "en"}, {"LANG=ja_JP.eucJP", "en"},
		{"LC_MESSAGES=C LANG=ja_JP.UTF-8", "en"}, {"LC_ALL=ja_JP.UTF-8 LC_MESSAGES=C LANG=C", "ja"}, {"LC_ALL= LANG=ja_JP.UTF-8", "ja"},
		{"SOKU_LANG=en LC_ALL=ja_JP.UTF-8", "en"}, {"SOKU_LANG=ja LC_ALL=C", "ja"},
	} {
		variables := map[string]string{}
		for _, v := range strings.Fields(c.environment) {
			name, value, _ := strings.Cut(v, "=")
			variables[name] = value
		}
		if got := environmentCatalogue(func(name string) string { return variables[name] }).Language(); got != c.want {
			t.Errorf("%s: %s, want %s", c.environment, got, c.want)
		}
	}
}

func TestAFlagOfEveryCommandChoosesTheLanguage(t *testing.T) {
	folder := failedTrial(t)
	const failed, inJapanese = "failed", "失敗"
	for _, c := range []struct {
		catalogue *text.Catalogue
		args      []string
		want      string
		code      int
	}{
		{text.English(), []string{"--lang", "ja", "ls"}, inJapanese, 0},
		{text.English(), []string{"--lang=ja", "ls"}, inJapanese, 0},
		{text.English(), []string{"ls", "--lang", "ja"}, inJapanese, 0},
		{text.English(), []string{"show", "--lang=ja", "02FAILED"}, inJapanese, 0},
		{japanese(), []string{"ls", "--lang", "en"}, failed, 0},
		{text.English(), []string{"--lang", "ja", "tcp", "--help"}, "受信側で計数します", 0},
		{text.English(), []string{"tcp", "--help", "--lang", "ja"}, "受信側で計数します", 0},
		{text.English(), []string{"--lang", "ja", "help", "tcp"}, "受信側で計数します", 0},
		{text.English(), []string{"--lang", "ja", "show", "--wrong"}, "詳しくは: soku show --help", exitStatus[measure.KindUsage]},
		{text.English(), []string{"--lang", "ja", "iperf3", "--version"}, "iperf 3", 0},
		{text.English(), []string{"--lang", "fr", "ls"}, `--lang "fr": neither en nor ja; see: soku ls --help`, exitStatus[measure.KindUsage]},
		{japanese(), []string{"ls", "--lang=de"}, `--lang "de": en または ja を指定してください。`, exitStatus[measure.KindUsage]},
		{text.English(), []string{"ls", "--lang"}, "flag needs an argument: --lang", exitStatus[measure.KindUsage]},
	} {
		out, errs, code := shown(t, c.catalogue, folder, c.args...)
		if code != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("%q: status %d, no %q in\n%s%s", c.args, code, c.want, out, errs)
		}
	}
}

// keepFailedTrial stores a trial of the campaign of fillStore that was cut short.
func keepFailedTrial(t *testing.T, sys *System) {
	t.Helper()
	s, err := openStore(context.Background(), sys, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	o, err := option.Effective(option.Defaults(measure.TestTCP), measure.TestTCP)
	if err != nil {
		t.Fatal(err)
	}
	r := &measure.Result{
		Schema: measure.Schema, ID: "02FAILED", Test: measure.TestTCP, Options: o, StartedAt: time.Date(2026, 3, 14, 9, 30, 0, 0, time.UTC),
		Path: measure.Path{Client: measure.Endpoint{Name: "office"}, Server: measure.Endpoint{Name: "vm"}, Direction: measure.Forward},
		Trial: &measure.Trial{Campaign: "01CAMPAIGN", Name: "gateway/sku", Pattern: "high", Label: "tcp", Round: 3, Repeat: 1, Order: 1,
			Levels: []measure.Level{{Factor: "sku", Value: "high"}}},
		Error:   measure.Fail(measure.KindBroken, "server.max_duration.ended", measure.Figures{"limit_ns": 60 * time.Second}),
		Summary: measure.Summary{GoodputBps: 200e6, DurationNs: measure.Duration(60 * time.Second), ReceivedBytes: 1_500_000_000},
		Flows:   []measure.Flow{{Direction: measure.Forward, Summary: measure.Summary{GoodputBps: 200e6, ReceivedBytes: 1_500_000_000}}},
	}
	r.Findings.Add(finding.ForeignConnections, measure.AtServer, measure.Figures{"connections": 1})
	r.Findings.Add(finding.RowsCut, measure.AtClient, measure.Figures{"rows": 1000})
	if err := s.Put(context.Background(), r); err != nil {
		t.Fatal(err)
	}
}

// People read the language of the catalogue.
func TestTheOutputIsInTheLanguageOfTheCatalogue(t *testing.T) {
	folder := failedTrial(t)
	for _, c := range []struct {
		args []string
		code int
		want []string
	}{
		{[]string{"show", "02FAILED"}, 0, []string{
			"スループット 200.0 Mbit/s（受信側で計数）\n",
			"失敗         上限の 1m0s（--max-duration）に達したため、サーバーがテストを終了しました。",
			"警告         カウント対象外: クライアント以外のアドレスからの 1 接続。経路上のアドレス変換（NAT）の有無を要確認\n",
			"転送量       送信 0 B、受信 1.500 GB\n",
		}},
		{[]string{"show", "nothing"}, exitStatus[measure.KindNotFound], []string{"soku: ストア ", ` に結果 "nothing" はありません。soku ls で一覧を確認してください。`}},
		{[]string{"show", "--wrong"}, exitStatus[measure.KindUsage], []string{"soku: unknown flag: --wrong。詳しくは: soku show --help\n"}},
		{[]string{"ls"}, 0, []string{"結果       開始                 テスト  経路", "失敗: 切断\n"}},
		{[]string{"report", "--full"}, 0, []string{
			"\n  失敗した測定: 1\n", "サーバーがテストを終了しました", "1 回の測定: カウント対象外: クライアント以外のアドレスからの 1", "最速は sku ultra", "\n警告\n",
		}},
		{[]string{"report", "--format", "md"}, 0, []string{"- high、ラウンド 3、繰り返し 1: 上限の 1m0s（--max-duration）に達したため、", "## 警告\n"}},
		{[]string{"report", "--format", "html"}, 0, []string{`<html lang="ja">`, `<h2 id="answers">回答</h2>`, ">警告<", "サーバーがテストを終了しました"}},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			out, errs, code := shown(t, japanese(), folder, c.args...)
			for _, want := range c.want {
				if !strings.Contains(out+errs, want) {
					t.Errorf("no %q in\n%s%s", want, out, errs)
				}
			}
			if code != c.code || strings.Contains(out+errs, "map[") { // a message that could not be made
				t.Errorf("status %d:\n%s%s", code, out, errs)
			}
		})
	}
}

// What programs read is the same whatever language people read.
func TestDocumentsAreEnglishInEveryLanguage(t *testing.T) {
	folder := failedTrial(t)
	for _, args := range [][]string{
		{"show", "02FAILED", "--json"}, {"ls", "--json"}, {"report", "--format", "json"}, {"report", "--format", "csv"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			english, errs, code := shown(t, text.English(), folder, args...)
			if code != 0 || english == "" {
				t.Fatalf("status %d: %s", code, errs)
			}
			if got, errs, code := shown(t, japanese(), folder, args...); code != 0 || got != english {
				t.Errorf("status %d: %s\nin Japanese:\n%s\nin English:\n%s", code, errs, got, english)
			}
		})
	}
}

// readings counts how often a folder of messages is read.
type readings struct{ times int }

func (r *readings) Open(name string) (fs.File, error) {
	r.times++
	return fstest.MapFS{}.Open(name)
}

// Reading the catalogue takes longer than a connection: it must not come before the first
// packet of a test. One whose document alone is printed needs no sentence at all.
func TestATestReadsTheCatalogueOnlyForASentence(t *testing.T) {
	addr := startServer(t, nil)
	for _, c := range []struct {
		args []string
		read bool
	}{
		{[]string{"tcp", addr, "-t", "100ms", "--no-save", "--json"}, false},
		{[]string{"tcp", addr, "-t", "100ms", "--no-save"}, true},
		{[]string{"tcp", "--help"}, true},
	} {
		folder := &readings{}
		sys, out, errs := fakeSystem(t, c.args...)
		sys.Catalogue = text.For(language.Japanese, folder)
		if code := Run(sys); code != 0 {
			t.Fatalf("%v: status %d: %s", c.args, code, errs)
		}
		if read := folder.times > 0; read != c.read {
			t.Errorf("%v: the catalogue was read: %v, want %v", c.args, read, c.read)
		}
		if r := new(measure.Result); !c.read && json.Unmarshal(out.Bytes(), r) != nil {
			t.Errorf("%v: no document: %s", c.args, out)
		}
	}
}

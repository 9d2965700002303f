package text

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template/parse"

	"golang.org/x/text/language"
)

// inEnglish are the messages whose Japanese text is the English one: names, units, and what comes
// from elsewhere.
var inEnglish = []string{
	"cell.time", "chart.load.value", "check.markdown.heading", "column.variation", "doctor.check.eee", "error.cli.run.only",
	"error.ingest.iperf2.reported", "error.ingest.iperf3.reported", "error.ingest.ntttcp.reported", "error.ingest.nuttcp.reported",
	"error.ntttcp.option.console_file", "error.ntttcp.option.value", "error.ssh.config", "error.ssh.denied", "error.ssh.failed", "error.ssh.name",
	"error.ssh.unreachable", "fact.cpu", "fact.mtu", "failure.line", "floor.mode.tcp", "floor.mode.udp", "floor.p99", "floor.p99_9",
	"floor.packets.rate", "head.mtu", "head.p99", "live.p99", "metric.cpu_seconds_per_gb", "metric.responsiveness_rpm", "metric.rtt_p50_ns",
	"metric.rtt_p90_ns", "metric.rtt_p95_ns", "metric.rtt_p99_99_ns", "metric.rtt_p99_9_ns", "metric.rtt_p99_ns", "plan.before", "rows.p50",
	"rows.p90", "rows.p95", "rows.p99", "rows.p99_9", "rows.p99_99", "shown.kept", "shown.packets", "trace.node", "value.memory",
}

// written is what a message writes: the texts between its actions, and the fields in them.
type written struct {
	texts  []string
	fields map[string]bool
}

// read parses all forms of a message with the functions of a catalogue.
func (m message) read(t *testing.T, c *Catalogue, key string) written {
	t.Helper()
	out := written{fields: map[string]bool{}}
	for form, source := range m.forms {
		parsed, err := c.language().Parse(source)
		if err != nil {
			t.Errorf("%s: %s (%s): %v", m.file, key, form, err)
			continue
		}
		if parsed.Tree != nil {
			out.add(parsed.Root)
		}
	}
	return out
}

// add adds what a node and those below it write.
func (w *written) add(n parse.Node) {
	switch n := n.(type) {
	case *parse.TextNode:
		w.texts = append(w.texts, string(n.Text))
	case *parse.ListNode:
		if n != nil {
			for _, child := range n.Nodes {
				w.add(child)
			}
		}
	case *parse.ActionNode:
		w.add(n.Pipe)
	case *parse.IfNode:
		w.branch(&n.BranchNode)
	case *parse.RangeNode:
		w.branch(&n.BranchNode)
	case *parse.WithNode:
		w.branch(&n.BranchNode)
	case *parse.PipeNode:
		if n != nil {
			for _, c := range n.Cmds {
				for _, a := range c.Args {
					w.add(a)
				}
			}
		}
	case *parse.ChainNode:
		w.add(n.Node)
		w.use(n.Field)
	case *parse.FieldNode:
		w.use(n.Ident)
	case *parse.VariableNode:
		w.use(n.Ident[1:])
	}
}

func (w *written) branch(n *parse.BranchNode) {
	w.add(n.Pipe)
	w.add(n.List)
	w.add(n.ElseList)
}

func (w *written) use(fields []string) {
	for _, f := range fields {
		w.fields[f] = true
	}
}

func TestEveryMessageIsInJapaneseWithTheSameFields(t *testing.T) {
	english, japanese := messagesOf(t, "en"), messagesOf(t, "ja")
	c := For(language.Japanese)
	for _, key := range slices.Sorted(maps.Keys(english)) {
		m, there := japanese[key]
		if !there {
			t.Errorf("%s: %s has no Japanese message", english[key].file, key)
			continue
		}
		if want := strings.Replace(english[key].file, ".en.", ".ja.", 1); m.file != want {
			t.Errorf("%s stands in %s, want %s", key, m.file, want)
		}
		if len(m.forms) != 1 || m.forms["other"] == "" {
			t.Errorf("%s: %s has forms other than \"other\", the only one of Japanese", m.file, key)
		}
		want, got := english[key].read(t, c, key), m.read(t, c, key)
		if !maps.Equal(want.fields, got.fields) {
			t.Errorf("%s: %s writes %q, the English message %q", m.file, key, slices.Sorted(maps.Keys(got.fields)), slices.Sorted(maps.Keys(want.fields)))
		}
	}
	for key, m := range japanese {
		if _, there := english[key]; !there {
			t.Errorf("%s: %s has no English message", m.file, key)
		}
	}
}

var latin = regexp.MustCompile(`[A-Za-z]`)

func TestOnlyNamesAndUnitsAreTheSameInJapanese(t *testing.T) {
	english, japanese := messagesOf(t, "en"), messagesOf(t, "ja")
	c := English()
	for key, m := range japanese {
		same := m.forms["other"] == english[key].forms["other"] && latin.MatchString(strings.Join(m.read(t, c, key).texts, ""))
		if listed := slices.Contains(inEnglish, key); same && !listed {
			t.Errorf("%s: %s is English: %q", m.file, key, m.forms["other"])
		} else if listed && !same {
			t.Errorf("%s is listed as English", key)
		}
	}
}

// Rules of Japanese typography, for the texts between the actions of a message.
var typography = map[string]*regexp.Regexp{
	"a Latin letter next to a Japanese one": regexp.MustCompile(`[\p{Hiragana}\p{Katakana}ー\p{Han}][A-Za-z]|[A-Za-z][\p{Hiragana}\p{Katakana}\p{Han}]`),
	"western punctuation after Japanese":    regexp.MustCompile(`[\p{Hiragana}\p{Katakana}ー\p{Han}）」][.,;?!]`),
	"an ASCII bracket next to Japanese":     regexp.MustCompile(`[\p{Hiragana}\p{Katakana}ー\p{Han}、。] ?\(|\([\p{Hiragana}\p{Katakana}\p{Han}]|[\p{Hiragana}\p{Katakana}ー\p{Han}]\)|\)[\p{Hiragana}\p{Katakana}\p{Han}、。]`),
	"a space next to full-width characters": regexp.MustCompile(`\S [、。（）「」]|[、。（）「」] +[^\s]`),
}

func TestJapaneseMessagesKeepTheTypography(t *testing.T) {
	c := English()
	for key, m := range messagesOf(t, "ja") {
		for _, text := range m.read(t, c, key).texts {
			for rule, wrong := range typography {
				if found := wrong.FindString(text); found != "" {
					t.Errorf("%s: %s: %s: %q in %q", m.file, key, rule, found, text)
				}
			}
		}
	}
}

// variants are words that the glossary has another word for.
var variants = regexp.MustCompile(`(?:サーバ|ユーザ|バッファ|ルータ|スケジューラ|コンピュータ|ブラウザ|フォルダ|パラメータ|ジッタ|ドライバ|ポリサ|シェーパ|ハイパーバイザ|アダプタ|カウンタ|タイマ|ヘッダ|コンテナ|フィルタ|オペレータ|インターフェイスカード)(?:[^ー]|$)|` +
	`インタフェ|インターフェース|プロセッサ|帯域幅|レイテンシ|往復時間|ラウンドトリップ|片道|グッドプット|キャンペーン|トライアル|ディスクリプタ|コントロール ?グループ|閾値|符号付き順位|符号順位|` +
	`システムコール|インスタンスタイプ|データ センター|ファイルコピー|トークンバケット|セキュリティグループ|データフォルダ|リングバッファ|ページキャッシュ|コマンドライン|オープンループ|クロックソース|途中の機器|試験|百分位|リトライ|リッスン`)

func TestJapaneseMessagesUseTheWordsOfTheGlossary(t *testing.T) {
	for key, m := range messagesOf(t, "ja") {
		if found := variants.FindString(m.forms["other"]); found != "" {
			t.Errorf("%s: %s: %q is not the word of docs/glossary-ja.md", m.file, key, found)
		}
	}
}

// The glossary has a word once, and its Japanese word occurs in the messages.
func TestTheGlossaryHasTheWordsOfTheMessages(t *testing.T) {
	source, err := os.ReadFile("../../docs/glossary-ja.md")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, m := range messagesOf(t, "ja") {
		all.WriteString(m.forms["other"] + "\n")
	}
	said, seen := all.String(), map[string]bool{}
	for line := range strings.Lines(string(source)) {
		english, japanese, is := strings.Cut(strings.TrimSpace(line), " | ")
		english = strings.TrimPrefix(english, "| ")
		if japanese = strings.TrimSuffix(japanese, " |"); !is || !strings.HasPrefix(line, "| ") || english == "English" {
			continue
		}
		if seen[english] {
			t.Errorf("%s stands twice", english)
		}
		seen[english] = true
		for word := range strings.SplitSeq(japanese, "、") {
			if word, _, _ = strings.Cut(word, "（"); !strings.Contains(said, word) {
				t.Errorf("%s: no message says %s", english, word)
			}
		}
	}
	if len(seen) < 80 {
		t.Errorf("the glossary has %d words", len(seen))
	}
}

package messages

import (
	"encoding/json"
	"testing"
	"testing/fstest"

	"golang.org/x/text/language"
)

func TestThePluralFormIsThatOfTheLanguage(t *testing.T) {
	folder := fstest.MapFS{
		"some.ru.json": {Data: []byte(`{"count.round": {"one": "{{.N}} раунд", "few": "{{.N}} раунда", "many": "{{.N}} раундов", "other": "{{.N}} раунда"}}`)},
		"some.ar.json": {Data: []byte(`{"count.round": {"zero": "0", "one": "1", "two": "2", "few": "few", "many": "many", "other": "other"}}`)},
		"some.ja.json": {Data: []byte(`{"count.round": "{{.N}} 回"}`)},
		"some.fr.json": {Data: []byte(`{"count.round": {"description": "how many passes", "one": "{{.N}} tour", "other": "{{.N}} tours"}}`)},
	}
	for _, c := range []struct {
		tag  language.Tag
		n    any
		want string
	}{
		{language.English, 1, "1 round"}, {language.English, int64(0), "0 rounds"}, {language.English, -1, "-1 round"}, {language.English, 1_000_001, "1000001 rounds"},
		{language.Russian, 1, "1 раунд"}, {language.Russian, 3, "3 раунда"}, {language.Russian, uint(11), "11 раундов"}, {language.Russian, 21, "21 раунд"}, {language.Russian, 3_000_000_021, "3000000021 раунд"},
		{language.Arabic, 0, "0"}, {language.Arabic, 2, "2"}, {language.Arabic, 103, "few"}, {language.Arabic, 11, "many"}, {language.Arabic, 100, "other"},
		{language.Japanese, 1, "1 回"}, {language.French, 0, "0 tour"}, {language.French, 2, "2 tours"},
	} {
		if got, err := New(c.tag, folder).Sentence("count.round", Args{"N": c.n}); got != c.want || err != nil {
			t.Errorf("%s: %v is %q (%v), want %q", c.tag, c.n, got, err, c.want)
		}
	}
}

// The sentence of a form that is misspelt would be empty.
func TestAMessageWithoutTheFormOtherIsADefect(t *testing.T) {
	for _, text := range []string{`{"one": "{{.N}} round", "others": "{{.N}} rounds"}`, `{}`, `null`, `1`} {
		if err := json.Unmarshal([]byte(text), new(message)); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}

func TestACountThatIsNoNumberIsADefect(t *testing.T) {
	if _, err := English().Sentence("count.round", Args{"N": "many"}); err == nil {
		t.Error("no error")
	}
}

func TestARegionComesBeforeItsLanguageAndALaterFolderBeforeOthers(t *testing.T) {
	first := fstest.MapFS{"a.de.json": {Data: []byte(`{"label.goodput": "first", "label.moved": "de"}`)}, "a.de-CH.json": {Data: []byte(`{"label.moved": "de-CH"}`)}}
	second := fstest.MapFS{"b.de.json": {Data: []byte(`{"label.goodput": "second"}`)}}
	l := New(language.MustParse("de-CH"), first, second)
	for key, want := range map[string]string{"label.goodput": "second", "label.moved": "de-CH", "label.loss": English().OrKey("label.loss", nil)} {
		if got := l.OrKey(key, nil); got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}

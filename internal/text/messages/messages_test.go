package messages

import (
	"encoding/json"
	"strings"
	"testing"
)

// A message is looked for in the files of its family alone.
func TestMessagesOfFailuresAreInTheirOwnFiles(t *testing.T) {
	entries, err := Files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		raw, err := Files.ReadFile(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		var keys map[string]json.RawMessage
		if err := json.Unmarshal(raw, &keys); err != nil {
			t.Fatalf("%s: %v", e.Name(), err)
		}
		for key := range keys {
			if strings.HasPrefix(e.Name(), failureFiles) != ofFailure(key) {
				t.Errorf("%s: move %s: files named %s* have the keys %v and no others", e.Name(), key, failureFiles, failureKeys)
			}
		}
	}
}

package store_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/store"
	"soku/test/storetest"
)

// fixture is a document of an earlier version.
func fixture(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil && strings.HasSuffix(file, ".gz") {
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(text)); err == nil {
			text, err = io.ReadAll(z)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestADocumentHasTheColumnsOfItsResult(t *testing.T) {
	files, err := filepath.Glob("../../test/fixtures/3*/results/*")
	if err != nil {
		t.Fatal(err)
	}
	figures := 0
	for _, file := range files {
		text := fixture(t, file)
		var r measure.Result
		if err := json.Unmarshal(text, &r); err != nil {
			t.Fatal(err)
		}
		want := store.RowOf(&r, nil)
		for _, d := range []store.Document{text, storetest.Compressed(text)} {
			rows, err := store.DocumentRows(t.Context(), []store.Document{d})
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if got := rows[0]; !bytes.Equal(got.Document, d) {
				t.Errorf("%s: the document was changed", file)
			}
			if rows[0].Document = nil; !reflect.DeepEqual(rows[0], want) {
				t.Errorf("%s:\n%+v, want\n%+v", file, rows[0], want)
			}
		}
		figures += len(want.Figures)
	}
	if len(files) < 60 || figures < 500 {
		t.Errorf("%d documents with %d figures", len(files), figures)
	}
}

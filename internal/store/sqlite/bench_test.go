package sqlite_test

import (
	"path/filepath"
	"testing"

	"soku/internal/store/sqlite"
	"soku/test/storetest"
)

func BenchmarkPutDocuments(b *testing.B) {
	s, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "soku.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	storetest.BenchmarkPutDocuments(b, 2, s)
}

package postgres_test

import (
	"testing"

	"soku/test/postgresql"
	"soku/test/storetest"
)

func BenchmarkPutDocuments(b *testing.B) {
	storetest.BenchmarkPutDocuments(b, 4, open(b, postgresql.Database(b)))
}

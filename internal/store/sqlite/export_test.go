package sqlite

// For tests of package sqlite_test.
var (
	Schema1 = schema1
	WantAll = wantAll
)

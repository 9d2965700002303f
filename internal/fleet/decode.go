package fleet

import (
	"encoding/json"

	"soku/internal/measure"
	"soku/internal/printable"
)

// Bounds of messages, in bytes.
const (
	MaxMessage  = 512 << 10 // of a message and of a document in one; larger documents go by HTTPS
	MaxDocument = 64 << 20  // of a document, zstd
	MaxState    = 64 << 10  // of a hello, a beat, a report, an answer
	maxText     = 4 << 10   // characters kept of each text
)

// Decode reads a message of at most limit bytes. Control characters in its texts are made visible. An
// error has kind file.
func Decode[T any](message []byte, limit int) (T, error) {
	var m T
	if len(message) > limit {
		return m, measure.Fail(measure.KindFile, "fleet.message.long", measure.Figures{"bytes": len(message), "limit": limit})
	}
	if err := json.Unmarshal(message, &m); err != nil {
		return m, measure.Fail(measure.KindFile, "fleet.message.syntax", measure.Figures{"cause": err})
	}
	printable.Strings(&m, maxText)
	return m, nil
}

// Package notices has the licenses of soku and of all software that is part of the program. They
// are those of THIRD-PARTY-NOTICES; test/notices writes both (make notices).
package notices

import (
	"bytes"
	"compress/gzip"
	_ "embed" // the text
	"io"
)

//go:embed notices.txt.gz
var compressed []byte

// Text returns a reader of the text.
func Text() (io.Reader, error) { return gzip.NewReader(bytes.NewReader(compressed)) }

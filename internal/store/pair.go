package store

import (
	"encoding/base64"
	"encoding/json"

	"soku/internal/measure"
)

// PairQuery selects pairs of a client and a server: those with a result, of a test if that is set.
type PairQuery struct {
	Test measure.Test

	After Cursor // go on behind this place; empty: from the first
	Limit int    // largest number of pairs; 0: no limit
}

// PairCursor is the place of the entry's client and server in a list of pairs.
func (e Entry) PairCursor() Cursor {
	b, _ := json.Marshal([2]string{e.Client, e.Server}) // texts are no error
	return Cursor(base64.RawURLEncoding.EncodeToString(b))
}

// Pair is what [Entry.PairCursor] made the cursor of, or two empty names for an empty one. The error is of kind usage.
func (c Cursor) Pair() (client, server string, err error) {
	if c == "" {
		return "", "", nil
	}
	var pair []string
	b, err := base64.RawURLEncoding.DecodeString(string(c))
	if err == nil {
		err = json.Unmarshal(b, &pair)
	}
	if err != nil || len(pair) != 2 {
		return "", "", measure.Fail(measure.KindUsage, "store.cursor", measure.Figures{"cursor": c})
	}
	return pair[0], pair[1], nil
}

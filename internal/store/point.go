package store

import "time"

// Point is chosen figures of one result.
type Point struct {
	ID        string
	StartedAt time.Time
	Values    []float64 // one element a key, NaN where the result has no such figure
}

// Cursor is the place of the result in a list of results.
func (p Point) Cursor() Cursor { return CursorAt(p.StartedAt, p.ID) }

package store

import "time"

// Campaign is what the store has of a campaign except its results.
type Campaign struct {
	ID         string    `json:"id"`
	Name       string    `json:"name"`
	Title      string    `json:"title,omitempty"`
	StartedAt  time.Time `json:"started_at"`
	FinishedAt time.Time `json:"finished_at,omitzero"` // zero while trials are left
	Plan       string    `json:"plan"`                 // YAML text as it was read
	Seed       int64     `json:"seed"`
	Patterns   int       `json:"patterns"`
	Trials     int       `json:"trials"` // planned
	Done       int       `json:"done"`   // with a result, failed ones included
	Failed     int       `json:"failed"` // whose newest result is an error
}

package ssh

import "time"

// askEvery is how often a session sends a request.
const askEvery = 10 * time.Second

// Bounds of what a host writes.
const (
	maxGreeting = 1000    // lines before the first one that counts
	maxRest     = 1 << 20 // bytes after the last line that is read
	maxShown    = 300     // characters of a line that a failure repeats
)

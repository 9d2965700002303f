package daemon

import "sync"

// complaints keep the log short: a failure that goes on is said when it begins, and again only
// when its code has changed or it was over. It is safe for concurrent use.
type complaints struct {
	say func(sentence string)

	mu   sync.Mutex
	last map[string]string // the code of the failure, by what fails
}

// once says the sentence of a failure with a code, unless the last one of what fails had that code.
func (c *complaints) once(what, code, sentence string) {
	c.mu.Lock()
	before, failed := c.last[what]
	c.last[what] = code
	c.mu.Unlock()
	if !failed || before != code {
		c.say(sentence)
	}
}

// over reports whether what failed had failed, and takes note that it does not any more.
func (c *complaints) over(what string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, failed := c.last[what]
	delete(c.last, what)
	return failed
}

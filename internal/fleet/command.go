package fleet

import "soku/internal/measure"

// MaxOutput is how many bytes of what a command printed are kept: the last ones.
const MaxOutput = 32 << 10

// Command has an agent run a command of a plan, where its owner allows that. The same ID without a Text asks
// whether it has ended. The order may be repeated: the agent runs an ID once.
type Command struct {
	ID          string   `json:"id"`
	Text        []byte   `json:"text,omitempty"`  // for the shell; base64, so that its lines stay
	Shell       []string `json:"shell,omitempty"` // what runs it; empty: that of the system
	Environment []string `json:"environment,omitempty"`
	LimitNs     int64    `json:"limit_ns,omitempty"` // a command that runs longer is killed
	End         bool     `json:"end,omitempty"`      // kill it
}

// Commanded is how far a command is.
type Commanded struct {
	Running bool           `json:"running,omitempty"`
	Output  []byte         `json:"output,omitempty"` // when it has ended: the last [MaxOutput] bytes
	Error   *measure.Error `json:"error,omitempty"`  // of the command, or why it is not run
}

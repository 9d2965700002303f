package cloud

import (
	"context"
	"os"
	"strings"
	"time"
)

// retryAfter is how long an incomplete answer is good for.
const retryAfter = time.Minute

// Setting is the environment variable that says whom to ask, if not the service of the
// cloud that the firmware names: "off", or PROVIDER@ADDRESS with a port where it is not 80.
const Setting = "SOKU_METADATA"

// Metadata is what the service of this machine's cloud said, asked for once. Its
// methods are safe for concurrent use.
type Metadata struct {
	turn   chan struct{} // holds the right to ask
	answer Answer
	at     time.Time
}

// NewMetadata has asked for nothing yet.
func NewMetadata() *Metadata {
	return &Metadata{turn: make(chan struct{}, 1)}
}

// Of is the answer for a machine with this firmware, or with the setting in its place. It
// has no provider where no service is asked. It takes 200 ms at most; while another
// caller asks it waits for that answer.
func (m *Metadata) Of(ctx context.Context, f Firmware) Answer {
	return m.of(ctx, f, os.Getenv(Setting)) //nolint:forbidigo // a property of the machine, like the firmware, not a setting of the user
}

func (m *Metadata) of(ctx context.Context, f Firmware, setting string) Answer {
	provider, address := ProviderOf(f), ""
	if setting != "" {
		provider, address, _ = strings.Cut(setting, "@") // "off" is no provider
	}
	if services[provider] == nil {
		return Answer{}
	}
	select {
	case m.turn <- struct{}{}:
	case <-ctx.Done():
		a := Answer{}
		a.Cloud.Provider = provider
		return a
	}
	defer func() { <-m.turn }()
	if !m.answer.complete() && (m.at.IsZero() || time.Since(m.at) > retryAfter) {
		m.answer, m.at = Ask(ctx, provider, address), time.Now()
	}
	return m.answer
}

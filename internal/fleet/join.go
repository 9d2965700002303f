package fleet

import "soku/internal/measure"

// Paths of the hub's HTTPS server for agents.
const (
	PathJoin    = "/api/v1/agents/join"   // POST [Join], answered by [Joined]
	PathNonce   = "/api/v1/agents/nonce"  // POST, answered by [Nonce]
	PathRenew   = "/api/v1/agents/renew"  // POST [Renew], answered by [Joined]
	PathResults = "/api/v1/agents/result" // POST of a document over [MaxMessage], with the fields of [Renew] and of a message as header fields; answered by [Receipt]
	PathNATS    = "/nats"                 // NATS over WebSocket
)

// Nonce is a text that an agent signs, once and within a minute. It makes requests over HTTPS independent of clocks.
type Nonce struct {
	Nonce  string `json:"nonce"`
	UnixNs int64  `json:"unix_ns"` // the clock of the hub
}

// ToSign is what an agent signs with its key of a nonce.
func ToSign(nonce string) []byte { return []byte("soku agent " + nonce) }

// Join is an agent that asks for admission.
type Join struct {
	Token     string `json:"token"`
	Agent     string `json:"agent"` // its identity
	Nonce     string `json:"nonce"`
	Signature string `json:"signature"` // of [ToSign], base64 in URLs without padding
	Name      string `json:"name"`
	Platform  string `json:"platform"`
	Program   string `json:"program"`
	Version   int    `json:"version"`
}

// Renew is an agent that asks for its permission again.
type Renew struct {
	Agent     string `json:"agent"`
	Nonce     string `json:"nonce"`
	Signature string `json:"signature"`
}

// Header fields of a request with a document, in place of the members of [Renew].
const (
	HeaderAgent     = "Soku-Agent"
	HeaderNonce     = "Soku-Nonce"
	HeaderSignature = "Soku-Signature"
)

// Joined is the permission of an agent.
type Joined struct {
	Hub    string            `json:"hub"`    // identity of the hub
	JWT    string            `json:"jwt"`    // permission at the broker
	NATS   []string          `json:"nats"`   // addresses of the broker, as in tls://hub:7661
	Labels map[string]string `json:"labels"` // bound to the token
	// Certificates are those of the hub and its broker, PEM; empty: those of public authorities.
	Certificates string         `json:"certificates,omitempty"`
	Error        *measure.Error `json:"error,omitempty"` // with a status of 400 or more
}

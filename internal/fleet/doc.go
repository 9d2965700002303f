// Package fleet is what passes between a hub and its agents: subjects, messages and their bounds.
// docs/fleet-protocol.md is its text for those who write another end. The package does no I/O.
//
// An agent is named by the public half of its key, an nkey of a user. It may publish to subjects
// below soku.v1.up.ID and hear those below soku.v1.down.ID and soku.v1.all, and no others; the
// broker enforces that, so that a message's subject says who sent it. An answer to a request of the
// hub goes to a subject below soku.v1.up.ID, one to a request of the agent to a subject below
// soku.v1.down.ID.
//
// All messages are JSON but documents, which are zstd. The receiver of a message calls [Decode],
// which bounds it before it is read.
package fleet

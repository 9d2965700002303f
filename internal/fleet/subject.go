package fleet

import "strings"

// The beginnings of all subjects.
const (
	upward   = "soku.v1.up."
	downward = "soku.v1.down."

	// Everyone is heard by all agents; it has no answer.
	Everyone = "soku.v1.all"
)

// Kinds of messages of an agent, published below [Up]. Those with an answer are requests.
const (
	UpHello  = "hello"  // [Hello], answered by a [Welcome]: after each connection
	UpBeat   = "beat"   // [Beat], every [Welcome.BeatNs]
	UpTrial  = "trial"  // [TrialReport] of a trial that runs
	UpResult = "result" // a document with the header fields of [Delivery], answered by a [Receipt]
	UpAnswer = "answer" // an answer to the hub, below a word of the request
)

// Requests of a hub, published below [Down].
const (
	DownTrial   = "trial"   // [TrialOrder], answered by an [Answer]
	DownStart   = "start"   // [Start], answered by an [Answer]
	DownStop    = "stop"    // [Stop], answered by an [Answer]
	DownServe   = "serve"   // [Serve], answered by a [Served]
	DownCommand = "command" // [Command], answered by a [Commanded]
	DownAsk     = "ask"     // empty, answered by a [Beat]: the agent's clock and state
	DownLeave   = "leave"   // [Leave], answered by an [Answer]: the agent ends its connection for good
	DownAnswer  = "answer"  // an answer to the agent, below a word of the request
)

// Up is the subject of what an agent publishes.
func Up(agent, what string, rest ...string) string { return join(upward, agent, what, rest) }

// Down is the subject of what a hub publishes to one agent.
func Down(agent, what string, rest ...string) string { return join(downward, agent, what, rest) }

func join(prefix, agent, what string, rest []string) string {
	return prefix + strings.Join(append([]string{agent, what}, rest...), ".")
}

// AllUp is what a hub subscribes to: what all agents publish of one kind.
func AllUp(what string, rest ...string) string { return Up("*", what, rest...) }

// Sender is the agent that published to a subject below [Up], and what it published; ok is false for
// another subject.
func Sender(subject string) (agent, what string, ok bool) {
	rest, ok := strings.CutPrefix(subject, upward)
	if !ok {
		return "", "", false
	}
	agent, what, ok = strings.Cut(rest, ".")
	what, _, _ = strings.Cut(what, ".")
	return agent, what, ok && ValidAgent(agent) && what != ""
}

// MayPublish are the subjects that an agent may publish to.
func MayPublish(agent string) []string { return []string{upward + agent + ".>"} }

// MayHear are the subjects that an agent may subscribe to.
func MayHear(agent string) []string {
	return []string{downward + agent + ".>", Everyone, Everyone + ".>"}
}

// MayReply reports whether the hub may send the answer of an agent's request to a subject. The broker lets an
// agent name any subject for it: a hub that did not check would pass its answer on to another agent.
func MayReply(agent, subject string) bool {
	rest, ok := strings.CutPrefix(subject, Down(agent, DownAnswer)+".")
	return ok && rest != "" && !strings.ContainsAny(rest, "*> ")
}

// idLength is the length of an nkey's public half.
const idLength = 56

// ValidAgent reports whether text has the form of an agent's identity: the public half of the nkey of a
// user. It is then one word of a subject.
func ValidAgent(text string) bool {
	if len(text) != idLength || text[0] != 'U' {
		return false
	}
	return strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

package measure

// Questions that a campaign may ask instead of one about a factor: how much of documented limits can be used,
// what running all pairs of hosts concurrently costs, and which pattern is best.
const (
	QuestionLimit      = "limit"
	QuestionContention = "contention"
	QuestionPatterns   = "patterns"
)

// Questions are all of them.
var Questions = []string{QuestionLimit, QuestionContention, QuestionPatterns}

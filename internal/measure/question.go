package measure

// What a campaign may ask about instead of a factor: how much of documented limits can be used,
// what running all pairs of hosts concurrently costs, and which pattern is best.
const (
	QuestionLimit      = "limit"
	QuestionContention = "contention"
	QuestionPatterns   = "patterns"
)

// Questions are all of them.
var Questions = []string{QuestionLimit, QuestionContention, QuestionPatterns}

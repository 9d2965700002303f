package cli

import (
	"fmt"
	"io"
	"regexp"

	"soku/docs/reference"
)

// topics are pages of the reference that soku help shows.
var topics = []struct{ name, about, page string }{
	{"plan", "The file that describes a campaign", "plan.md"},
	{"rules", "The rules of soku check", "check.md"},
	{"metrics", "The figures of results", "metrics.md"},
	{"findings", "What soku reports about results", "findings.md"},
}

var (
	pageComment = regexp.MustCompile(`(?m)^<!--.*-->\n\n?`)
	pageLink    = regexp.MustCompile(`\[([^\]\n]+)\]\([^)\n]*\)`)
)

// printTopic prints the page of a topic as a person reads it on a terminal: without links and
// comments. known is false if there is no such topic.
func printTopic(w io.Writer, name string) (known bool, err error) {
	for _, t := range topics {
		if t.name != name {
			continue
		}
		page, err := reference.Pages.ReadFile(t.page)
		if err != nil {
			return true, err
		}
		_, err = w.Write(pageLink.ReplaceAll(pageComment.ReplaceAll(page, nil), []byte("$1")))
		return true, err
	}
	return false, nil
}

// listedTopics are the topics below the commands of the program's help.
func listedTopics() string {
	out := "\n\nTopics (soku help TOPIC):"
	for _, t := range topics {
		out += fmt.Sprintf("\n  %-11s %s", t.name, t.about)
	}
	return out
}

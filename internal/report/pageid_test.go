package report

import (
	"regexp"
	"strings"
	"testing"

	"soku/internal/text"
)

// Links and the names of tables refer to identities.
func TestEachIdentityIsOnThePageOnce(t *testing.T) {
	mesh := mesh{hosts: hostsNamed(5), rounds: 5, noise: 0.005}.input()
	for name, in := range map[string]Input{
		"failure": campaignWithFailure(), "mesh": mesh, "copies": copies(true, true), "curves": streamSweep("1", "2").input(), "all tests": everyTest(), "limits": streamsOverGateways(),
	} {
		page := written(t, inEnglish(build(t, in).HTML))
		seen := map[string]bool{}
		for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
			if seen[m[1]] {
				t.Errorf("%s: %s is there twice", name, m[1])
			}
			seen[m[1]] = true
		}
		for _, m := range regexp.MustCompile(` (?:aria-labelledby="|href="#)([^"]*)"`).FindAllStringSubmatch(page, -1) {
			for id := range strings.FieldsSeq(m[1]) {
				if !seen[id] {
					t.Errorf("%s: %s is not on the page", name, id)
				}
			}
		}
		if len(seen) < 10 {
			t.Errorf("%s: %d identities", name, len(seen))
		}
	}
}

// A key is the name of a table in the style sheet and a part of identities.
func TestBlocksWithAHeadingHaveAKeyOfTheirOwn(t *testing.T) {
	for _, in := range []Input{campaignWithFailure(), copies(true, true), everyTest()} {
		for _, s := range build(t, in).outline(text.English(), true).Sections {
			seen := map[string]bool{}
			for _, b := range s.Blocks {
				named := b.Heading != "" || len(b.Tables) > 0
				if named && (b.Key == "" || seen[b.Key]) || b.Empty() {
					t.Errorf("%s: block %q (%s)", s.ID, b.Key, b.Heading)
				}
				seen[b.Key] = true
			}
		}
	}
}

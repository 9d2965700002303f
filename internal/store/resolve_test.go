package store_test

import (
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/store/memory"
	"soku/test/storetest"
)

// filled is a store with results of these identities, each started a second after the one before.
func filled(t *testing.T, ids ...string) store.Store {
	t.Helper()
	s := memory.New()
	for i, id := range ids {
		if err := s.Put(t.Context(), storetest.Result(id, i)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func withCampaigns(t *testing.T, s store.Store, idsAndNames ...string) store.Store {
	t.Helper()
	for i := 0; i < len(idsAndNames); i += 2 {
		c := store.Campaign{ID: idsAndNames[i], Name: idsAndNames[i+1], StartedAt: storetest.Result("", i).StartedAt}
		if err := s.PutCampaign(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestFindResult(t *testing.T) {
	s := filled(t, "beef0001", "beef", "abcd0001", "we'ird%id", "測定-日本", "abcd0002")
	for ask, want := range map[string]string{
		"abcd0001": "abcd0001", "beef0": "beef0001", "last": "abcd0002", "last~1": "測定-日本", "last~5": "beef0001", "we'ird%": "we'ird%id", "測定-": "測定-日本",
		"beef": "beef", // an identity is found before an abbreviation
	} {
		if r, err := store.FindResult(t.Context(), s, ask); err != nil {
			t.Errorf("%s: %v", ask, err)
		} else if r.ID != want {
			t.Errorf("%s found %s, want %s", ask, r.ID, want)
		}
	}
	for ask, kind := range map[string]measure.Kind{
		"abcd": measure.KindUsage, "abce": measure.KindNotFound, "bee": measure.KindNotFound, "": measure.KindNotFound,
		"abcd00011": measure.KindNotFound, "%%%%": measure.KindNotFound, "abc_": measure.KindNotFound, "last~6": measure.KindNotFound, "last~": measure.KindNotFound, "last~-1": measure.KindNotFound, "' OR 1=1 --": measure.KindNotFound,
	} {
		if _, err := store.FindResult(t.Context(), s, ask); measure.KindOf(err) != kind || measure.AsError(err, "").Hint == "" {
			t.Errorf("%q: %v, want kind %s", ask, err, kind)
		}
	}
	if _, err := store.FindResult(t.Context(), s, "abcd"); !strings.Contains(err.Error(), `"abcd" fits several: abcd0001, abcd0002`) {
		t.Errorf("several are reported as %v", err)
	}
}

func TestFindCampaign(t *testing.T) {
	s := withCampaigns(t, memory.New(), "2026-a", "study", "2026-b", "study", "2028-c", "2027-a", "2027-a", "other")
	for ask, want := range map[string]string{
		"2026-a": "2026-a", "study": "2026-b", "other": "2027-a", "last": "2027-a", "last~1": "2028-c", "2028-": "2028-c",
		"2027-a": "2027-a", // an identity is found before the same text as a name
	} {
		if c, err := store.FindCampaign(t.Context(), s, ask); err != nil {
			t.Errorf("%s: %v", ask, err)
		} else if c.ID != want {
			t.Errorf("%s found %s, want %s", ask, c.ID, want)
		}
	}
	for ask, kind := range map[string]measure.Kind{"2026-": measure.KindUsage, "nothing": measure.KindNotFound, "last~4": measure.KindNotFound, "202": measure.KindNotFound, "": measure.KindNotFound} {
		if _, err := store.FindCampaign(t.Context(), s, ask); measure.KindOf(err) != kind || measure.AsError(err, "").Hint == "" {
			t.Errorf("%q: %v, want kind %s", ask, err, kind)
		}
	}
}

func TestANameIsFoundBeforeAnAbbreviationAndLast(t *testing.T) {
	s := withCampaigns(t, memory.New(), "study-1", "x", "a", "study", "b", "last", "c", "other")
	for ask, want := range map[string]string{"study": "a", "last": "b"} {
		if c, err := store.FindCampaign(t.Context(), s, ask); err != nil || c.ID != want {
			t.Errorf("%s found %s (%v), want %s", ask, c.ID, err, want)
		}
	}
}

func TestAnAbbreviationIsNoName(t *testing.T) {
	s := withCampaigns(t, memory.New(), "2026-a", "study", "2026-b", "study")
	for ask, want := range map[string]string{"study": "2026-b", "2026-a": "2026-a"} {
		if c, err := store.FindNamedCampaign(t.Context(), s, ask); err != nil || c.ID != want {
			t.Errorf("%s found %s (%v), want %s", ask, c.ID, err, want)
		}
	}
	for _, ask := range []string{"2026-", "last", ""} {
		if c, err := store.FindNamedCampaign(t.Context(), s, ask); measure.KindOf(err) != measure.KindNotFound {
			t.Errorf("%q found %s (%v)", ask, c.ID, err)
		}
	}
}

func TestNothingIsFoundInAnEmptyStore(t *testing.T) {
	for _, ask := range []string{"last", "abcd", ""} {
		_, err := store.FindResult(t.Context(), memory.New(), ask)
		if measure.KindOf(err) != measure.KindNotFound || measure.AsError(err, "").Hint == "" {
			t.Errorf("result %q: %v", ask, err)
		}
		_, err = store.FindCampaign(t.Context(), memory.New(), ask)
		if measure.KindOf(err) != measure.KindNotFound || measure.AsError(err, "").Hint == "" {
			t.Errorf("campaign %q: %v", ask, err)
		}
	}
	if _, err := store.FindResult(t.Context(), memory.New(), "last"); !strings.Contains(err.Error(), "no result yet") {
		t.Errorf("the last of none is reported as %v", err)
	}
}

func TestErrorsOfTheStoreAreReturned(t *testing.T) {
	s := filled(t, "abcd0001")
	_ = s.Close()
	for _, ask := range []string{"last", "abcd", "abcd0001"} {
		if _, err := store.FindResult(t.Context(), s, ask); measure.KindOf(err) != measure.KindStore {
			t.Errorf("result %q: %v", ask, err)
		}
		if _, err := store.FindCampaign(t.Context(), s, ask); measure.KindOf(err) != measure.KindStore {
			t.Errorf("campaign %q: %v", ask, err)
		}
	}
}

func TestMatchID(t *testing.T) {
	ids := []string{"2026-b", "2026-a", "2027", "2027-c", "2026-d"}
	for text, want := range map[string]string{
		"2026-a": "2026-a", "2027": "2027", "2027-": "2027-c", "last": "2026-d", "202": "", "2028": "", "": "", "2026-ab": "",
	} {
		if got, err := store.MatchID(text, ids); err != nil || got != want {
			t.Errorf("%q is %q (%v), want %q", text, got, err, want)
		}
	}
	if _, err := store.MatchID("2026-", ids); measure.KindOf(err) != measure.KindUsage || !strings.Contains(err.Error(), "2026-a, 2026-b, 2026-d") {
		t.Errorf("several are reported as %v", err)
	}
	if got, err := store.MatchID("last", nil); err != nil || got != "" {
		t.Errorf("the last of none is %q (%v)", got, err)
	}
	if got, _ := store.MatchID("last", []string{"last", "x"}); got != "last" {
		t.Errorf("an identity is found before what stands for the last: %q", got)
	}
}

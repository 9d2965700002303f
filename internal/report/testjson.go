package report

import (
	"encoding/json"

	"soku/internal/measure"
	"soku/internal/text"
)

// MarshalJSON writes the facts and, for those who rely on them, the sentences.
func (t Test) MarshalJSON() ([]byte, error) {
	type facts Test
	if t.FactorEffects == nil {
		t.FactorEffects = []FactorEffect{} // a list without elements, not null
	}
	v := testView{&t, text.ForPrograms()}
	var caveats []string // one for each of the facts
	for _, c := range t.Caveats {
		caveats = append(caveats, v.caveat(c))
	}
	return json.Marshal(struct {
		Label       string       `json:"label"`
		Test        measure.Test `json:"test"`
		Description string       `json:"description"`
		AnswerText  string       `json:"answer"`
		Answer      Answer       `json:"answer_facts"`
		CaveatTexts []string     `json:"caveats,omitempty"`
		Caveats     []Caveat     `json:"caveat_facts,omitempty"`
		TimingTexts []string     `json:"latency_methods,omitempty"`
		Basis       basisJSON    `json:"basis"`
		facts
	}{
		v.label(), t.Test, v.description(), v.answer(), t.Answer, caveats, t.Caveats, v.timings(),
		basisJSON{t.Basis.Metric.Key, t.Basis.Metric.Better == measure.Higher, v.basis()}, facts(t),
	})
}

// MarshalJSON writes a title also for trials run by hand.
func (r Report) MarshalJSON() ([]byte, error) {
	type facts Report
	return json.Marshal(struct {
		Schema string `json:"schema"`
		Title  string `json:"title"`
		facts
	}{r.Schema, reportView{&r, text.ForPrograms()}.title(), facts(r)})
}

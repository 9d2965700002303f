package measure

// Explains is the place of a trial among those that tell what limited another trial, where that
// trial alone does not.
type Explains struct {
	Result string `json:"result" jsonschema:"description=Identity of the trial that is explained"`
	Probe  Probe  `json:"probe" jsonschema:"description=What its verdict says would tell"`
	Step   string `json:"step" jsonschema:"description=How this trial differs from it: see docs/method.md"`
	// Verdict is nil in all but the last trial, and where the trials do not tell.
	Verdict *Verdict `json:"verdict,omitempty" jsonschema:"description=What limited the trial that is explained; in the last of its trials\\, absent if they do not tell"`
}

package plan_test

import (
	"flag"
	"fmt"

	"soku/internal/campaign/plan"
)

func identity(k plan.TrialKey) string { return fmt.Sprint(k, k.Client, k.Server) }

var update = flag.Bool("update", false, "write the generated files anew")

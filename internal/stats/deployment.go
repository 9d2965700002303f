package stats

// ByDeployment returns what to compare where hosts were redeployed between rounds: the
// mean of the values of each deployment, in the order in which deployments first occur.
// All rounds of a deployment share its advantages, such as a faster host or a shorter path, so
// rounds are not independent: in campaigns that redeploy now and then, Student's t shows 17 %
// false differences on rounds, and 5 % on deployments.
//
// values has an element a round, such as a log ratio of two patterns, NaN for none, and
// deployments the identity of what measured it, of all hosts that matter; both have the
// same length. If there is only one deployment, rounds are the unit: the values come back
// without those that are not finite, and redeployed is false. What such rounds show holds
// for the hosts that were measured, and may not hold for others of their kind.
func ByDeployment(values []float64, deployments []string) (units []float64, redeployed bool) {
	units = meansBy(values, deployments)
	if len(units) < 2 {
		return finites(values), false
	}
	return units, true
}

// meansBy returns the means of the finite values that have one key, in the order in which
// keys first occur with such a value.
func meansBy(values []float64, keys []string) (means []float64) {
	of := map[string][]float64{}
	var order []string
	for i, v := range values {
		if !finite(v) {
			continue
		}
		if key := keys[i]; of[key] == nil {
			order = append(order, key)
		}
		of[keys[i]] = append(of[keys[i]], v)
	}
	for _, key := range order {
		means = append(means, Mean(of[key]))
	}
	return means
}

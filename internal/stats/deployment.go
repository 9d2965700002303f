package stats

// ByDeployment returns what to compare where hosts were redeployed between rounds: the
// mean of the values of each deployment, in the order in which deployments first occur.
// What a deployment got, such as a faster host or a shorter path, is in all of its rounds,
// so that rounds are not independent: Student's t on them shows 17 % false differences
// among campaigns that redeploy now and then, on deployments 5 %.
//
// values has an element a round, such as a log ratio of two patterns, NaN for none, and
// deployments the identity of what measured it, of all hosts that matter; both have the
// same length. If there is only one deployment, rounds are the unit: the values come back
// without those that are not finite, and redeployed is false. What such rounds show holds
// for the hosts that were measured, and may not hold for others of their kind.
func ByDeployment(values []float64, deployments []string) (units []float64, redeployed bool) {
	of := map[string][]float64{}
	var order []string
	for i, v := range values {
		if !finite(v) {
			continue
		}
		d := deployments[i]
		if of[d] == nil {
			order = append(order, d)
		}
		of[d] = append(of[d], v)
	}
	if len(order) < 2 {
		return finites(values), false
	}
	for _, d := range order {
		units = append(units, Mean(of[d]))
	}
	return units, true
}

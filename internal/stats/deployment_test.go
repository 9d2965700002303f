package stats

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

func TestDeploymentsAreTheUnitWhereHostsWereRedeployed(t *testing.T) {
	nan := math.NaN()
	got, redeployed := ByDeployment([]float64{1, 3, nan, 7, 2, nan}, []string{"a", "a", "a", "b", "a", "c"})
	if !redeployed || !slices.Equal(got, []float64{2, 7}) {
		t.Errorf("means %v, %v", got, redeployed)
	}
	got, redeployed = ByDeployment([]float64{1, nan, 3}, []string{"a", "b", "a"})
	if redeployed || !slices.Equal(got, []float64{1, 3}) {
		t.Errorf("one deployment with values: %v, %v", got, redeployed)
	}
	if got, redeployed = ByDeployment(nil, nil); redeployed || len(got) != 0 {
		t.Errorf("nothing: %v, %v", got, redeployed)
	}
}

func TestDeploymentsMakeNoFalseAlarms(t *testing.T) {
	alarms := func(design string, unit func(d []float64, deployments []string) []float64) simulation {
		return simulate(t, falseOfTwo, design, 2000, func(seed uint64) bool {
			r := source(seed)
			var d []float64
			var deployments []string
			for deployment := range 6 {
				placement := r.NormFloat64()
				for range 2 {
					d = append(d, placement+r.NormFloat64())
					deployments = append(deployments, fmt.Sprint(deployment))
				}
			}
			_, _, p := oneLook(unit(d, deployments), 0.95)
			return p <= 0.05
		})
	}
	alarms("6 deployments of 2 rounds each", func(d []float64, deployments []string) []float64 {
		units, _ := ByDeployment(d, deployments)
		return units
	}).atMost(0.05)
	// Otherwise the placement would not matter here.
	alarms("6 deployments of 2 rounds each, by rounds (not the rule)", func(d []float64, _ []string) []float64 { return d }).atLeast(0.08)
}

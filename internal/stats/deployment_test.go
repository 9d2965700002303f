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
	onRounds, onDeployments := 0, 0
	for seed := range uint64(2000) {
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
		units, _ := ByDeployment(d, deployments)
		if PairedT(d, 0.95).P <= 0.05 {
			onRounds++
		}
		if PairedT(units, 0.95).P <= 0.05 {
			onDeployments++
		}
	}
	if share := float64(onDeployments) / 2000; share > mostFalseOf2000 {
		t.Errorf("%.1f %% false alarms", 100*share)
	}
	if onRounds < 2*onDeployments {
		t.Errorf("%d false alarms on rounds, %d on deployments: the placement does not matter here", onRounds, onDeployments)
	}
}

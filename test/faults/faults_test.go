// Package faults ends the programs of a fleet at random moments and counts what there is afterwards.
package faults

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"soku/internal/hub/campaigns"
	"soku/test/tier"
)

// kills are the faults of one run.
const kills = 5

// runsAsked is the variable with how many runs there are; SEED is the first or only one.
const runsAsked = "SOKU_FAULTS"

func TestProgramsAreKilledAtRandomMoments(t *testing.T) {
	tier.Asked(t, os.Getenv(runsAsked), "faults")
	runs, err := strconv.Atoi(os.Getenv(runsAsked))
	if err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64() % 1_000_000
	if n, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		seed, runs = n, 1
	}
	for i := range runs {
		t.Run(fmt.Sprintf("SEED=%d", seed+uint64(i)), func(t *testing.T) { killed(t, seed+uint64(i)) })
	}
}

func killed(t *testing.T, seed uint64) {
	t.Logf("SEED=%d repeats this run", seed)
	draw := rand.New(rand.NewPCG(seed, 1))
	random := func(least, most time.Duration) time.Duration {
		return least + time.Duration(draw.Int64N(int64(most-least)))
	}
	away := random(100*time.Millisecond, 2*time.Second)
	s := newSite(t, func() time.Duration { return away })
	campaign := s.begin()
	for range kills {
		time.Sleep(random(500*time.Millisecond, 3*time.Second)) // the moments are what is random
		if n := draw.IntN(len(s.programs) + 1); n == len(s.programs) {
			t.Log("PostgreSQL is killed")
			if err := s.database.Restart(random(100*time.Millisecond, 2*time.Second)); err != nil {
				t.Fatal(err)
			}
		} else {
			t.Logf("%s is killed", s.programs[n].name)
			s.programs[n].signal(syscall.SIGKILL)
		}
	}
	s.check(campaign)
}

// begun is a state in which a campaign has results and a trial runs.
func begun(c campaigns.State) bool { return c.Done >= 2 && len(c.Running) == 1 }

func TestASecondHubGoesOnWithACampaign(t *testing.T) {
	tier.SpendsSeconds(t)
	s := newSite(t, func() time.Duration { return time.Minute })
	s.rounds, s.duration = 1, 3*time.Second
	campaign := s.begin()
	left := s.measures(campaign)
	s.hubs[0].signal(syscall.SIGKILL)
	s.hubs[1].await("agents join by")
	s.check(campaign)
	s.counts(left)
}

func TestAHubThatWasSuspendedDoesNotDisturbTheOneInItsPlace(t *testing.T) {
	tier.SpendsSeconds(t)
	s := newSite(t, nil)
	s.rounds, s.duration = 1, 3*time.Second
	campaign := s.begin()
	left := s.measures(campaign)
	s.hubs[0].signal(syscall.SIGSTOP)
	s.hubs[1].await("agents join by")
	s.hubs[0].signal(syscall.SIGCONT)
	s.hubs[0].await("another hub serves in the place of this one")
	s.check(campaign)
	s.counts(left)
}

func TestAnAgentIsSuspended(t *testing.T) {
	tier.SpendsSeconds(t)
	s := newSite(t, nil)
	campaign := s.begin()
	s.state(campaign, begun)
	s.agents[0].suspend(5 * time.Second)
	s.check(campaign)
}

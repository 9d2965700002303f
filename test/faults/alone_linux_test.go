package faults

import (
	"bytes"
	"crypto/tls"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"soku/internal/fleet"
	"soku/internal/hub/campaigns"
	"soku/test/tier"
)

// lasting is how long a disk is full or a path is cut in ordinary tests.
const lasting = 5 * time.Second

// One site has a campaign of its own for each fault.
func TestOneFaultAtATime(t *testing.T) {
	tier.SpendsSeconds(t)
	tier.NeedsRoot(t, "disks and networks of their own")
	var agentDisk, hubDisk, databaseDisk *disk
	var c *space
	s := newSite(t, nil, func(s *site) {
		agentDisk = newDisk(t, filepath.Join(s.folder, "a"), 128<<20)
		hubDisk = newDisk(t, filepath.Join(s.folder, "hub-0", "hub"), 16<<20)
		s.databaseFolder = filepath.Join(os.TempDir(), "soku-faults-database-"+filepath.Base(filepath.Dir(s.folder)))
		databaseDisk = newDisk(t, s.databaseFolder, 512<<20)
		c = newSpace(t, s)
	})
	s.rounds, s.duration, s.within = 1, time.Second, time.Minute
	for _, fault := range []struct {
		name    string
		mayFail int
		happens func(t *testing.T, campaign string)
	}{
		{"the permission of an agent is removed", 0, func(t *testing.T, campaign string) {
			s.trialOf(campaign, "a")
			if err := os.Remove(filepath.Join(s.folder, "a", "agent.json")); err != nil {
				t.Fatal(err)
			}
			before := strings.Count(s.agents[0].text(), "connected to")
			s.agents[0].signal(syscall.SIGKILL)
			s.agents[0].awaitTimes("connected to", before+1)
			if _, err := os.Stat(filepath.Join(s.folder, "a", "agent.json")); err != nil {
				t.Error(err)
			}
		}},
		{"the disk of an agent is full", 1, func(_ *testing.T, campaign string) {
			s.trialOf(campaign, "a")
			agentDisk.full(lasting)
		}},
		{"the disk of the database is full", 0, func(t *testing.T, campaign string) {
			s.trialOf(campaign, "a")
			databaseDisk.full(lasting)
			if err := s.database.Revive(); err != nil {
				t.Error(err)
			}
		}},
		{"an agent reaches neither hubs nor brokers", 0, func(_ *testing.T, campaign string) {
			s.trialOf(campaign, "c")
			c.cut(lasting)
		}},
		{"the disk of the hub is full and it starts again", 0, func(_ *testing.T, campaign string) {
			s.trialOf(campaign, "a")
			s.hubs[0].signal(syscall.SIGKILL)
			hubDisk.full(lasting)
		}},
		{"the certificate of the hubs is renewed", 0, func(t *testing.T, campaign string) {
			s.trialOf(campaign, "a")
			pin := s.renewCertificate()
			for _, a := range s.agents {
				a.await("the hub has another certificate")
				before := strings.Count(a.text(), "connected to")
				a.replace("--pin", string(pin))
				a.awaitTimes("connected to", before+1)
			}
		}},
	} {
		ok := t.Run(fault.name, func(t *testing.T) {
			s.t, s.mayFail = t, fault.mayFail
			began := time.Now()
			campaign := s.begin()
			fault.happens(t, campaign)
			s.check(campaign)
			t.Log(time.Since(began))
		})
		if !ok {
			break // the next one would be measured on a site that is not as it has to be
		}
	}
	s.t = t
}

func TestAnAgentReachesNeitherHubsNorBrokersForMinutes(t *testing.T) {
	tier.Asked(t, os.Getenv(runsAsked), "faults")
	tier.NeedsRoot(t, "networks of their own")
	var c *space
	s := newSite(t, nil, func(s *site) { c, s.serveFlags = newSpace(t, s), []string{"--patience", "10m"} })
	s.rounds, s.duration, s.within = 1, 3*time.Second, 12*time.Minute
	campaign := s.begin()
	s.state(campaign, func(c campaigns.State) bool {
		return len(c.Running) == 1 && c.Running[0].Client == "c" && c.Running[0].Bps > 0
	})
	c.cut(5 * time.Minute)
	s.check(campaign)
}

// renewCertificate has the hubs and brokers use a new certificate of the first hub, and returns its pin.
func (s *site) renewCertificate() fleet.Pin {
	s.t.Helper()
	name := filepath.Join(s.folder, "hub-0", "hub", "certificate.pem")
	before, err := tls.LoadX509KeyPair(name, filepath.Join(filepath.Dir(name), "certificate.key"))
	if err == nil {
		err = os.Remove(name)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.hubs[0].signal(syscall.SIGKILL)
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		made, err := tls.LoadX509KeyPair(name, filepath.Join(filepath.Dir(name), "certificate.key"))
		if err == nil && !bytes.Equal(made.Certificate[0], before.Certificate[0]) {
			s.copyToSecond("certificate.pem", "certificate.key")
			for _, p := range slices.Concat(s.brokers, s.hubs[1:]) {
				p.signal(syscall.SIGKILL)
			}
			return fleet.PinOf(made.Certificate[0])
		}
		if time.Since(began) > time.Minute {
			s.t.Fatal("the hub makes no certificate: ", err)
		}
	}
}

// trialOf waits until a trial runs whose client is an agent.
func (s *site) trialOf(campaign, client string) campaigns.Trial {
	s.t.Helper()
	return s.state(campaign, func(c campaigns.State) bool {
		return len(c.Running) == 1 && c.Running[0].Client == client
	}).Running[0]
}

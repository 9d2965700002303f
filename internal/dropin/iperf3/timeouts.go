package iperf3

import (
	"cmp"
	"math"
	"net"
	"strings"
	"time"

	serveriperf3 "soku/internal/server/iperf3"
)

// Limits of the options in this file, milliseconds and seconds.
const (
	usualSilence = 120_000
	leastSilence = 100
	maxTimeout   = mostTime * 1000
)

// keepAlive is what --cntl-ka asks for; 0 is the system's own.
type keepAlive struct{ Idle, Interval, Count int } // seconds, seconds, times

// controlKeepAlive takes IDLE/INTERVAL/COUNT, of which each may be left out.
func controlKeepAlive(s *Settings, v string) error {
	k := &keepAlive{}
	parts := strings.SplitN(v, "/", 3)
	for i, to := range []*int{&k.Idle, &k.Interval, &k.Count} {
		if i >= len(parts) || parts[i] == "" {
			continue
		}
		if err := bounded(to, parts[i], 0, math.MaxInt16, "--cntl-ka: %q is not a number from 0 to %d", parts[i], math.MaxInt16); err != nil {
			return err
		}
	}
	if k.Idle > 0 && k.Idle <= k.Interval*k.Count {
		return problem("control connection Keepalive period should be larger than the full retry period (interval * count)")
	}
	s.KeepAlive = k
	return nil
}

// config is the keep-alive configuration for package net; nil is soku's own.
func (k *keepAlive) config() *net.KeepAliveConfig {
	if k == nil {
		return nil
	}
	seconds := func(n int) time.Duration {
		if n == 0 {
			return -1 // the system's
		}
		return time.Duration(n) * time.Second
	}
	c := &net.KeepAliveConfig{Enable: true, Idle: seconds(k.Idle), Interval: seconds(k.Interval), Count: k.Count}
	c.Count = cmp.Or(c.Count, -1)
	return c
}

// bitrateLimit takes RATE/SECONDS.
func bitrateLimit(s *Settings, v string) error {
	v, over, averaged := strings.Cut(v, "/")
	if averaged {
		f, _, ok := number(over)
		if !ok || f != 0 && (f < leastInterval || f > mostInterval) {
			return problem("invalid time interval for calculating average data rate")
		}
		s.RateOver = time.Duration(f * float64(time.Second))
		if f == 0 {
			s.RateOver = -1
		}
	}
	n, err := rate(v)
	s.RateLimit = n
	return err
}

func milliseconds(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// usualRateOver is what iperf3's server averages a rate over.
const usualRateOver = 5 * time.Second

// times are the server's.
func (s *Settings) times() serveriperf3.Times {
	return serveriperf3.Times{
		Silence: milliseconds(s.RcvTimeout), Unacknowledged: milliseconds(s.SndTimeout),
		RateOver: cmp.Or(s.RateOver, usualRateOver), KeepAlive: s.KeepAlive.config(),
	}
}

package main

import (
	"errors"
)

// errUnsupported says that a program is there but refuses what it was asked.
var errUnsupported = errors.New("not supported by this build")

// Figures are what one run gave, by the name of a metric.
type Figures map[string]float64

// Metric is one column of a contest.
type Metric struct {
	Name   string
	Unit   string
	Format string // of one value, for fmt
	Higher bool   // more is better
}

// Site is where a run takes place, and for how long.
type Site struct {
	Host    string // address of the server
	Port    int    // free at both ends; the one after it too
	Seconds int
}

// Commands are a run's two ends. Client ends by itself; Server ends with it or is
// ended after it.
type Commands struct {
	Server, Client []string
	UDP            bool // the server listens for datagrams
}

// Contender is one program with the options of one contest.
type Contender struct {
	Label   string
	Program string // looked up on PATH
	Build   func(Site) Commands
	// Parse reads what both ends printed. It never panics on any output.
	Parse func(client, server string) (Figures, error)
	// Start, where it is set, has the time from exec to the first measured byte taken
	// by a relay between the ends, on loopback.
	Start *dataStart
	NoCPU bool // its server's work is done by children whose time is not seen
}

// Contest is one figure, measured with several programs in one place.
type Contest struct {
	Name    string
	Place   string // loopback, veth1500 or veth9000
	Kind    string // what is measured, and what happens to the data
	Metrics []Metric
	Per     string // what CPU time is given per: GB, packet or empty
	Entries []Contender
}

// Run is one execution of one contender: a row of the raw results.
type Run struct {
	Contest   string  `json:"contest"`
	Contender string  `json:"contender"`
	Round     int     `json:"round"`
	Figures   Figures `json:"figures,omitempty"`
	CPU       float64 `json:"cpu_seconds,omitempty"` // both ends
	LineNS    float64 `json:"cache_line_ns"`         // the slower of before and after
	Placement string  `json:"placement"`
	Error     string  `json:"error,omitempty"`
}

package main

import (
	"errors"
)

// errUnsupported: the program is installed but does not support the options.
var errUnsupported = errors.New("not supported by this build")

// Figures are the figures of one run by metric name.
type Figures map[string]float64

// Metric is one column of a contest.
type Metric struct {
	Name   string
	Unit   string
	Format string // of one value, for fmt
	Higher bool   // more is better
}

// Site is the place and duration of a run.
type Site struct {
	Host    string // address of the server
	Port    int    // free at both ends, as is the next one
	Seconds int
}

// Commands are a run's two ends. Client ends by itself; Server ends with it or is ended
// after it.
type Commands struct {
	Server, Client []string
	UDP            bool // the server listens for datagrams
}

// Contender is one program with the options of one contest.
type Contender struct {
	Label   string
	Program string // found on PATH
	Build   func(Site) Commands
	// Parse reads the output of both ends. It never panics on any output.
	Parse func(client, server string) (Figures, error)
	// Start, if set, has a relay between the ends on loopback take the time from exec
	// to the first measured byte.
	Start *dataStart
	NoCPU bool // the server works in child processes whose CPU time is unknown
}

// Contest compares one figure of several programs in one place.
type Contest struct {
	Name    string
	Place   string // loopback, veth1500 or veth9000
	Kind    string // what is measured, and how the payload is treated
	Metrics []Metric
	Per     string // unit of CPU time: per GB, per packet, or empty
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

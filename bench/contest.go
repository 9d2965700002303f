package main

import (
	"context"
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
	Folders folders // for files that are copied
}

// Commands are a run's two ends. Client ends by itself; Server ends with it or is ended
// after it, and may be empty.
type Commands struct {
	Server, Client []string
	UDP            bool                        // the server listens for datagrams
	Before         func(context.Context) error // nil: nothing; its time does not count
	After          func()                      // same; is called also after an error
}

// Contender is one program with the options of one contest.
type Contender struct {
	Label   string
	Program string // found on PATH
	Build   func(Site) Commands
	// Parse reads the output of both ends. It never panics on any output. Without it the
	// figure is the rate at which Bytes were copied until the exit.
	Parse func(client, server string) (Figures, error)
	// Brief programs take milliseconds: a run is the medians of several executions.
	Brief bool
	// Start has a relay between the ends on loopback take the time from exec to the first
	// packet.
	Start bool
	Bytes int64
	NoCPU bool // the server works in child processes whose CPU time is unknown
}

// Contest compares one figure of several programs in one place.
type Contest struct {
	Name    string
	Place   string // loopback or a key of links
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

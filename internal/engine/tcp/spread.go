package tcp

import "time"

// spreading says when a loop that discards bytes gives half of its streams to a new loop: if its
// thread is busy and processors are idle. One thread discards hundreds of Gbit/s, and with few
// processors a second one would take its processor from a sender. On a host with many, the senders
// of a dozen streams are faster than one thread, and more loops carry two to four times as much.
type spreading struct {
	every time.Duration // how long a loop is watched before it is judged
	busy  float64       // least share of a processor that its thread uses
	idle  float64       // least number of idle processors
}

const (
	// fewStreams is the least number of streams that a loop gets or keeps: with fewer, its wake-ups
	// cost more than another thread gains.
	fewStreams = 4
	// mostLoops is the most loops of a flow: on 16 processors eight carried no more than four.
	mostLoops = 8
)

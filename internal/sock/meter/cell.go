package meter

import (
	"sync"
	"time"
)

// Count is what one stream moved since it began. All fields but JitterNs only grow.
type Count struct {
	Bytes      int64
	Packets    int64 // UDP: sent, or received without duplicates
	Gaps       int64 // UDP receiver: sequence numbers found missing so far; late arrivals are not subtracted
	Next       int64 // UDP receiver: the next expected sequence number, one above the highest seen
	Reordered  int64
	Duplicated int64
	Dropped    int64 // UDP receiver: dropped by the kernel at a full socket
	Joined     int64 // UDP receiver: packets that the kernel joined with others
	JitterNs   float64
	Last       time.Time // when the last byte moved
}

// Cell passes one stream's count from its worker to the recorder.
type Cell struct {
	mu    sync.Mutex
	count Count
	_     [40]byte // so that two workers never share a cache line
}

// Publish sets the count. Only the stream's worker calls it.
func (c *Cell) Publish(n Count) {
	c.mu.Lock()
	c.count = n
	c.mu.Unlock()
}

func (c *Cell) load() Count {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count
}

// since returns the count from base on; JitterNs and Last are those of n. Bytes that had arrived
// at base and were never read do not make it negative.
func (n Count) since(base Count) Count {
	n.Bytes = max(0, n.Bytes-base.Bytes)
	n.Packets -= base.Packets
	n.Gaps -= base.Gaps
	n.Next -= base.Next
	n.Reordered -= base.Reordered
	n.Duplicated -= base.Duplicated
	n.Dropped -= base.Dropped
	n.Joined -= base.Joined
	return n
}

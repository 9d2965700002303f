package lab

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func TestTheRingReturnsEveryPacketWholeAndInOrder(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	r := newRing(make([]byte, 3*maxFrame+1000), 64)
	type packet struct {
		data []byte
		due  int64
	}
	var waiting []packet
	var full, wrapped int
	for step := range 200_000 {
		if chance.IntN(2) == 0 {
			room := r.space()
			if room == nil {
				full++
				if len(waiting) == 0 {
					t.Fatal("an empty ring has no room")
				}
				continue
			}
			n := 1 + chance.IntN(1+chance.IntN(maxFrame))
			for i := range n {
				room[i] = byte(step + i)
			}
			if r.end == 0 && len(waiting) > 0 {
				wrapped++
			}
			due := int64(step) + chance.Int64N(100)
			waiting = append(waiting, packet{bytes.Clone(room[:n]), due})
			r.push(n, int64(step), due)
			if k := len(waiting); k > 1 && waiting[k-1].due < waiting[k-2].due {
				waiting[k-1].due = waiting[k-2].due // nothing overtakes
			}
		} else if s := r.oldest(); s != nil {
			want := waiting[0]
			if got := r.data[s.at:][:s.n]; !bytes.Equal(got, want.data) || s.due != want.due {
				t.Fatalf("step %d: packet of %d bytes due %d, want %d bytes due %d", step, s.n, s.due, len(want.data), want.due)
			}
			r.pop()
			waiting = waiting[1:]
		} else if len(waiting) != 0 {
			t.Fatal("packets are gone")
		}
	}
	if full == 0 || wrapped == 0 {
		t.Errorf("the ring was full %d times and wrapped %d times", full, wrapped)
	}
}

func TestARecordSurvivesWritingAndReading(t *testing.T) {
	data := append(emptyRecord(2), make([]byte, recordBytes(2)-recordHeader)...)
	r := recorder(data[recordHeader+recordDirection:])
	for i := range 1000 {
		r.add(countPackets, 1)
		r.delay(1_000_000 + int64(i))
	}
	r.delay(5_000_000)
	r.add(countLost, 7)
	got, err := decodeRecord(data)
	if err != nil || len(got) != 2 {
		t.Fatal(got, err)
	}
	if got[0] != (GivenDelay{}) {
		t.Errorf("the other direction: %+v", got[0])
	}
	g := got[1]
	if g.Packets != 1000 || g.Lost != 7 || g.MaxNs != 5_000_000 || g.P50Ns < 999_000 || g.P50Ns > 1_001_500 || g.P99Ns > 1_002_000 {
		t.Errorf("%+v", g)
	}
}

func TestBucketsAreATenthOfAPercentWide(t *testing.T) {
	for v := int64(0); v < 1<<bucketLimit; v += 1 + v/977 {
		b := bucketOf(v)
		if b < 0 || b >= bucketCount {
			t.Fatalf("%d: bucket %d of %d", v, b, bucketCount)
		}
		if d := bucketValue(b) - v; d > v/1000+1 || -d > v/1000+1 {
			t.Fatalf("%d is kept as %d", v, bucketValue(b))
		}
	}
	if bucketOf(1<<62) != bucketCount-1 || bucketOf(-5) != 0 {
		t.Error("values out of range must land in the outermost buckets")
	}
}

func TestADamagedRecordIsRefused(t *testing.T) {
	for name, data := range map[string][]byte{"empty": nil, "other": make([]byte, 100), "short": append(emptyRecord(1), 1, 2, 3), "huge": append(emptyRecord(1<<40), make([]byte, 100)...)} {
		if _, err := decodeRecord(data); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

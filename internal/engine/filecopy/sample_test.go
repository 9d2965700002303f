package filecopy

import (
	"testing"
)

func TestALongStageHasBoundedSamples(t *testing.T) {
	s := &sampling{work: &work{}, joined: 1}
	for range 3 * samplesMost {
		s.work.fileBytes.Add(10)
		s.sample()
	}
	sum := int64(0)
	for _, x := range s.samples {
		sum += x.FileBytes
	}
	if len(s.samples) >= samplesMost || sum != 30*samplesMost {
		t.Errorf("%d samples, %d bytes", len(s.samples), sum)
	}
}

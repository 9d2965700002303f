package option

import (
	"testing"

	"soku/internal/measure"
)

func TestATestMayLeaveOutItsLengthAndPayload(t *testing.T) {
	var s Spec
	s.fillFunctions()
	o := Timed()
	o.Omit = measure.Duration(1e9)
	if length, known := s.Length(o); length != measure.Duration(11e9) || !known {
		t.Errorf("%v, %v", length, known)
	}
	if n, known := s.Payload(o); n != 0 || !known {
		t.Errorf("%d bytes, %v", n, known)
	}
}

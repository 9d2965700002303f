package measure

import "testing"

func TestATestMayLeaveOutItsLengthAndPayload(t *testing.T) {
	name := Register(Spec{Name: "short", Place: -1, Defaults: Timed()})
	defer delete(specs, name)
	s, o := SpecOf(name), Defaults(name)
	o.Omit = Duration(1e9)
	if length, known := s.Length(o); length != Duration(11e9) || !known {
		t.Errorf("%v, %v", length, known)
	}
	if n, known := s.Payload(o); n != 0 || !known {
		t.Errorf("%d bytes, %v", n, known)
	}
}

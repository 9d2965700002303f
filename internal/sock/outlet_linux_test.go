package sock

import (
	"testing"
	"unsafe"
)

func TestTheFirstOutletTakesThePayloadThatWasMadeAhead(t *testing.T) {
	PrepareOutlet()
	made := unsafe.SliceData(spare.pages)
	PrepareOutlet()
	if unsafe.SliceData(spare.pages) != made {
		t.Fatal("a second was made ahead of the first outlet")
	}
	var payloads []*byte
	for range 2 {
		o, err := OpenOutlet(nil, "write")
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		payloads = append(payloads, unsafe.SliceData(o.payload))
	}
	if payloads[0] != made || payloads[1] == made {
		t.Errorf("made ahead: %p; the outlets have %p and %p", made, payloads[0], payloads[1])
	}
}

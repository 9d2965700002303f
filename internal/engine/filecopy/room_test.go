package filecopy

import (
	"testing"

	"soku/internal/measure"
)

func TestACopyThatHasNoRoomIsRefused(t *testing.T) {
	err := room(measure.CopyPlace{FreeBytes: 1000}, 960, "x")
	wantCode(t, err, "copy.no_room")
	if err := room(measure.CopyPlace{FreeBytes: 1000}, 900, "x"); err != nil {
		t.Error(err)
	}
}

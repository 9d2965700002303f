package campaign_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"soku/internal/campaign/journal"

	"golang.org/x/sys/unix"
)

// A place may have thousands of campaigns.
func TestNumberingACampaignOpensOneJournal(t *testing.T) {
	in := journal.Folder(t.TempDir())
	for i := range 10 {
		begin(t, in, fmt.Sprintf("c%d", i))
	}
	watch, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(watch)
	for i := range 10 {
		journal := journal.File(filepath.Join(in.Name(), fmt.Sprintf("c%d", i)))
		if _, err := unix.InotifyAddWatch(watch, journal, unix.IN_OPEN); err != nil {
			t.Fatal(err)
		}
	}
	if n := begin(t, in, "d"); n != 11 {
		t.Errorf("the number is %d", n)
	}
	opened := map[uint32]bool{}
	buf := make([]byte, 64<<10)
	n, err := unix.Read(watch, buf)
	if err != nil && !errors.Is(err, unix.EAGAIN) {
		t.Fatal(err)
	}
	for at := 0; at < n; at += unix.SizeofInotifyEvent { // the event of a watched file has no name
		opened[binary.NativeEndian.Uint32(buf[at:])] = true
	}
	if len(opened) != 1 {
		t.Errorf("%d of 10 journals were opened", len(opened))
	}
}

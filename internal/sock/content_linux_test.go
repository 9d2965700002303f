package sock

import (
	"bytes"
	"testing"
	"unsafe"
)

// writersTo opens n writers of a content and closes them with the test.
func writersTo(t *testing.T, n int, path string, c *Content) (blocks []*byte, writers []*Writer) {
	t.Helper()
	for range n {
		o, err := OpenWriter(nil, path, c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(o.Close)
		writers = append(writers, o)
		blocks = append(blocks, unsafe.SliceData(o.payload))
	}
	return blocks, writers
}

// distinct is how many different blocks there are.
func distinct(blocks []*byte) int {
	all := map[*byte]bool{}
	for _, b := range blocks {
		all[b] = true
	}
	return len(all)
}

func TestTheFirstWritersUseThePreparedBlocks(t *testing.T) {
	c := &Content{fill: Incompressible}
	for _, n := range []int{1, 2, 2} {
		if err := c.prepare(n); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.blocks) != 2 {
		t.Fatalf("%d were prepared for two writers", len(c.blocks))
	}
	prepared := []*byte{unsafe.SliceData(c.blocks[0].bytes), unsafe.SliceData(c.blocks[1].bytes)}
	used, _ := writersTo(t, 3, "write", c)
	if distinct(used) != 3 || distinct(append(prepared, used[:2]...)) != 2 {
		t.Errorf("prepared: %p; the writers have %p", prepared, used)
	}
}

func TestManyWritersShareMemory(t *testing.T) {
	c := &Content{fill: Incompressible}
	most := mostBlocks()
	used, writers := writersTo(t, 3*most, "sendfile", c)
	if distinct(used[:most]) != most {
		t.Errorf("the first %d writers have %d blocks, want one each", most, distinct(used[:most]))
	}
	if distinct(used) != most {
		t.Errorf("%d writers have %d blocks, want %d", len(used), distinct(used), most)
	}
	for _, b := range c.blocks {
		if b.users != 3 {
			t.Errorf("a block has %d writers, want 3", b.users)
		}
	}
	shared := writers[most]
	before := bytes.Clone(shared.payload)
	writers[0].Close()
	if shared.block != writers[0+2*most].block || !bytes.Equal(shared.payload, before) {
		t.Error("the block of a writer is not there any more, after another one has closed")
	}
	for _, o := range writers {
		o.Close()
	}
	if len(c.blocks) != 0 {
		t.Errorf("%d blocks are left", len(c.blocks))
	}
}

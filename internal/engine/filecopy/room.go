package filecopy

import "soku/internal/measure"

// space is room on a disk: bytes, and files together with directories.
type space struct{ bytes, files int64 }

// unlimited is the space of a file system that does not tell what is free, or has no limit.
const unlimited = -1

// entryBytes is what a file or directory takes at most in addition to its contents: the rest of
// its last block, which has 4096 bytes in most file systems.
const entryBytes = 4096

// needed is the space of files with bytes in all.
func needed(bytes, files, dirs int64) space {
	return space{bytes + (files+dirs)*entryBytes, files + dirs}
}

// needed is the space that a copy of the set takes.
func (s *Set) needed() space { return needed(s.bytes, int64(len(s.entries)), int64(s.dirs)) }

// freeMost is the share of the free space that a copy may fill: other programs write to the
// disk, too.
const freeMost = 0.95

// room fails where what is needed does not fit into what is free in a folder.
func room(free, need space, folder string) error {
	if free.bytes != unlimited && float64(need.bytes) > freeMost*float64(free.bytes) {
		return measure.Fail(measure.KindRefused, "copy.no_room", measure.Figures{"folder": folder, "free_bytes": free.bytes, "needed_bytes": need.bytes})
	}
	if free.files != unlimited && float64(need.files) > freeMost*float64(free.files) {
		return measure.Fail(measure.KindRefused, "copy.no_files_left", measure.Figures{"folder": folder, "free": free.files, "needed": need.files})
	}
	return nil
}

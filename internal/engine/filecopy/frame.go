package filecopy

import (
	"encoding/binary"

	"soku/internal/measure"
)

// frameSize is the length of a frame, bytes. Numbers are big-endian (docs/protocol.md,
// "Connections of a copy"):
//
//	 0      1       2        4             8             12        16            24
//	+------+-------+--------+-------------+-------------+---------+-------------+
//	| kind | stage | zeros  | directories | files       | zeros   | bytes of    |  kind 1
//	|      |       |        | of stage    | of stage    |         | all files   |
//	+------+-------+--------+-------------+-------------+---------+-------------+
//	| kind | stage | zeros  | number of   | number of   | zeros   | bytes of    |  kind 2
//	|      |       |        | directory   | file        |         | the file    |
//	+------+-------+--------+-------------+-------------+---------+-------------+
//	| kind | zeros                                                              |  kinds 3, 4
//	+------+--------------------------------------------------------------------+
//
// A connection carries, from the source to the sink:
//
//	+---------+--------+-------+----------+--------+-------+----------+-----+---------+
//	| stage 1 | file 2 | bytes | checksum | file 2 | bytes | checksum | ... | end   3 |  each stage
//	+---------+--------+-------+----------+--------+-------+----------+-----+---------+
//	| over  4 |                                              after the last stage
//	+---------+
//
// The bytes follow in the stages network and all, the checksum (32, 4 or 0 bytes) in all. The
// sink answers one byte, [done], to the last frame of a stage and to that of the copy, on the
// first connection.
const frameSize = 24

// Kinds of frames.
const (
	frameStage = 1 // a stage begins
	frameFile  = 2 // a file follows
	frameEnd   = 3 // the stage has no more files on this connection
	frameOver  = 4 // the copy has ended, on the first connection only
)

// done is what the sink answers on the first connection when everything of a stage is
// written and flushed, and when everything is removed after the end.
const done = 0

// stageNumbers are those of the stages that cross the network.
var stageNumbers = map[string]byte{measure.StageNetwork: 1, measure.StageWrite: 2, measure.StageAll: 3}

// stageOf is the stage of a number, and false if no stage has it.
func stageOf(n byte) (name string, exists bool) {
	for name, number := range stageNumbers {
		if number == n {
			return name, true
		}
	}
	return "", false
}

// frame is one frame.
type frame struct {
	kind, stage byte
	entry
}

func (f frame) append(b []byte) []byte {
	b = append(b, f.kind, f.stage, 0, 0)
	b = binary.BigEndian.AppendUint32(b, f.dir)
	b = binary.BigEndian.AppendUint32(b, f.file)
	b = binary.BigEndian.AppendUint32(b, 0)
	return binary.BigEndian.AppendUint64(b, uint64(f.size))
}

// parseFrame reads a frame of [frameSize] bytes. It fails for kinds, stages and sizes that
// do not exist, and where zeros should be.
func parseFrame(b []byte) (f frame, ok bool) {
	f.kind, f.stage = b[0], b[1]
	f.dir, f.file = binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
	size := binary.BigEndian.Uint64(b[16:])
	f.size = int64(min(size, bytesMost+1))
	switch _, exists := stageOf(f.stage); {
	case b[2] != 0 || b[3] != 0 || b[12] != 0 || b[13] != 0 || b[14] != 0 || b[15] != 0:
	case size > bytesMost, f.kind < frameStage, f.kind > frameOver:
	case f.kind == frameStage:
		return f, exists && f.file > 0 && f.file <= filesMost && f.dir > 0 && f.dir <= f.file
	case f.kind == frameFile:
		return f, exists
	default:
		return f, f.entry == entry{} && f.stage == 0
	}
	return f, false
}

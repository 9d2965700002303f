package hub

import (
	"context"
	"time"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/semaphore"

	"soku/internal/measure"
	"soku/internal/printable"
)

// Bounds of one document.
const (
	maxDecoded      = 256 << 20 // bytes of JSON, as of a journal's record
	maxValues       = 3_000_000 // JSON values
	maxValuesBefore = 1_000_000 // of a document that was ordered before the hub was started
	maxText         = 4 << 10   // characters kept of each text
	maxWindow       = 64 << 20  // of the decoder, in bytes
)

// unpacker decodes into the room that it is given and no further.
var unpacker, _ = zstd.NewReader(nil, // only a wrong option is an error
	zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxDecoded), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecodeAllCapLimit(true))

// read decodes a document within the bounds of one and of all that are read simultaneously. free gives the room back
// for others. An error has kind file, or is the cause of ctx.
func (i *intake) read(ctx context.Context, document []byte, ordered *order) (r *measure.Result, free func(), err error) {
	size, err := decodedSize(document)
	if err != nil {
		return nil, nil, err
	}
	if err := take(ctx, i.decoded, size); err != nil {
		return nil, nil, err
	}
	var values int
	free = func() { i.decoded.Release(size); i.values.Release(int64(values)) }
	if r, err = i.decode(ctx, document, size, ordered, &values); err != nil {
		free()
		return nil, nil, err
	}
	return r, free, nil
}

func take(ctx context.Context, from *semaphore.Weighted, n int64) error {
	if from.Acquire(ctx, n) != nil {
		return measure.AsError(context.Cause(ctx), measure.KindInterrupted)
	}
	return nil
}

func unreadable(cause any) error {
	return measure.Fail(measure.KindFile, "hub.result.syntax", measure.Figures{"cause": cause})
}

// decodedSize is how many bytes of JSON a document has, or the limit if it does not say so.
func decodedSize(document []byte) (int64, error) {
	var head zstd.Header
	if err := head.Decode(document); err != nil {
		return 0, unreadable(err)
	}
	if head.HasFCS && head.FrameContentSize > maxDecoded {
		return 0, measure.Fail(measure.KindFile, "fleet.message.long", measure.Figures{"bytes": head.FrameContentSize, "limit": maxDecoded})
	}
	if head.HasFCS {
		return int64(head.FrameContentSize), nil
	}
	return maxDecoded, nil
}

// decode takes room for the values of a document, writes how many into taken, and decodes it.
func (i *intake) decode(ctx context.Context, document []byte, size int64, ordered *order, taken *int) (*measure.Result, error) {
	text, err := unpacker.DecodeAll(document, make([]byte, 0, size))
	if err != nil {
		return nil, unreadable(err)
	}
	most := maxValuesBefore
	if ordered != nil {
		most = min(measure.MostValues(ordered.spec.Options, time.Since(ordered.at)), maxValues)
	}
	values := measure.JSONValues(text, 0)
	if values > most {
		return nil, measure.Fail(measure.KindFile, "hub.result.values", measure.Figures{"values": values, "limit": most})
	}
	if err := take(ctx, i.values, int64(values)); err != nil {
		return nil, err
	}
	*taken = values
	r := new(measure.Result)
	if err := r.UnmarshalJSON(text); err != nil {
		return nil, unreadable(err)
	}
	printable.Strings(r, maxText)
	return r, nil
}

package daemon

import (
	"encoding/json"

	"github.com/klauspost/compress/zstd"

	"soku/internal/fleet"
	"soku/internal/measure"
)

// documentWindow bounds the memory of a decoder, in bytes.
const documentWindow = 4 << 20

// pack makes the document of a result. One that is larger than a hub takes has only the identity,
// the path, the options and an error.
func pack(r *measure.Result) ([]byte, error) {
	document, err := compress(r)
	if err == nil && len(document) > fleet.MaxDocument {
		small := measure.Result{
			Schema: r.Schema, ID: r.ID, Tool: r.Tool, Test: r.Test, Trial: r.Trial, StartedAt: r.StartedAt, Path: r.Path, Options: r.Options,
			Error: measure.Fail(measure.KindBroken, "daemon.document.large", measure.Figures{"bytes": len(document), "limit": fleet.MaxDocument}),
		}
		document, err = compress(&small)
	}
	return document, err
}

func compress(r *measure.Result) ([]byte, error) {
	b, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(documentWindow))
	if err != nil {
		return nil, err
	}
	defer func() { _ = w.Close() }()
	return w.EncodeAll(b, make([]byte, 0, len(b)/4)), nil
}

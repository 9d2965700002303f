package memory_test

import (
	"testing"

	"soku/internal/store"
	"soku/internal/store/memory"
	"soku/test/storetest"
)

func TestMemoryConforms(t *testing.T) {
	storetest.Run(t, func(*testing.T) store.Store { return memory.New() })
}

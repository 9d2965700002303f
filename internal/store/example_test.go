package store_test

import (
	"context"
	"fmt"
	"time"

	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/store/memory"
)

func Example() {
	ctx := context.Background()
	s := memory.New()
	defer func() { _ = s.Close() }()

	result := &measure.Result{Schema: measure.Schema, ID: "20260102-0001", Test: measure.TestTCP, StartedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	result.Path.Client.Name, result.Path.Server.Name = "vm1", "vm2"
	for range 2 { // the second Put changes nothing
		if err := s.Put(ctx, result); err != nil {
			fmt.Println(err)
		}
	}
	for entry, err := range store.Entries(ctx, s, store.Query{Endpoint: "vm2"}) {
		fmt.Println(entry.ID, entry.Test, entry.Client, entry.Server, err)
	}
	found, err := store.FindResult(ctx, s, "2026")
	fmt.Println(found.ID, err)
	_, err = s.Get(ctx, "20260102-0002")
	fmt.Println(measure.KindOf(err))
	// Output:
	// 20260102-0001 tcp vm1 vm2 <nil>
	// 20260102-0001 <nil>
	// not_found
}

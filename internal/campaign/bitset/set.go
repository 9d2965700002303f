// Package bitset is sets of small numbers, a bit for each.
package bitset

import (
	"iter"
	"math/bits"
)

// Set is a set of numbers; one of n numbers takes n/8 bytes.
type Set []uint64

// New returns an empty set of numbers below n.
func New(n int) Set { return make(Set, (n+63)/64) }

// Add adds a number.
func (b Set) Add(i int) { b[i/64] |= 1 << (i % 64) }

// Remove takes a number out.
func (b Set) Remove(i int) { b[i/64] &^= 1 << (i % 64) }

// Has reports whether a number is in the set.
func (b Set) Has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }

// All are the numbers in the set in ascending order.
func (b Set) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, word := range b {
			for ; word != 0; word &= word - 1 {
				if !yield(i*64 + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}

package schedule

// pairTable has a number for unordered pairs of hosts. What was not set must not
// be asked for.
type pairTable struct {
	all  []int32          // of every pair, in rows of growing length
	some map[uint64]int32 // where there are too many pairs for that
}

// mostPairs bounds the memory of a table of every pair: 16 MB. A mesh of 2,895
// hosts has as many.
const mostPairs = 4 << 20

func newPairTable(hosts int) pairTable {
	if n := hosts * (hosts + 1) / 2; n <= mostPairs {
		return pairTable{all: make([]int32, n)}
	}
	return pairTable{some: map[uint64]int32{}}
}

func (t pairTable) get(a, b int) int32 {
	if t.all != nil {
		return t.all[index(a, b)]
	}
	return t.some[uint64(index(a, b))]
}

func (t pairTable) set(a, b int, v int32) {
	if t.all != nil {
		t.all[index(a, b)] = v
	} else {
		t.some[uint64(index(a, b))] = v
	}
}

// index numbers unordered pairs.
func index(a, b int) int {
	if a < b {
		a, b = b, a
	}
	return a*(a+1)/2 + b
}

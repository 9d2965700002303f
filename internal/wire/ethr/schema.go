package ethr

// The types of a message as encoding/gob describes them on the wire. Every message
// carries the descriptions of all types of the sending program, by number, and then one
// value. Fields are found by name, as in gob, so that messages with more fields or other
// type numbers are understood.

// Numbers of gob's own types.
const (
	gobBool   = 1
	gobInt    = 2
	gobUint   = 3
	gobFloat  = 4
	gobBytes  = 5
	gobString = 6
	firstType = 64 // of those that a program describes
)

type field struct {
	name string
	id   int // number of its type
}

type structure struct {
	name   string
	fields []field
}

// Numbers of Ethr's types, in the order in which it describes them.
const (
	typeMsg = firstType + iota
	typeSyn
	typeTestID
	typeParams
	typeAck
	typeSyncStart
	typeSyncReady
	typeSyncGo
)

// schema is the types of version 1.0.0, or with synchronisation.
func schema(synced bool) []structure {
	types := []structure{
		{typeName, []field{{"Version", gobUint}, {"Type", gobUint}, {"Syn", typeSyn}, {"Ack", typeAck}}},
		{"EthrMsgSyn", []field{{"TestID", typeTestID}, {"ClientParam", typeParams}}},
		{"EthrTestID", []field{{"Protocol", gobUint}, {"Type", gobUint}}},
		{"EthrClientParam", []field{
			{"NumThreads", gobUint}, {"BufferSize", gobUint}, {"RttCount", gobUint}, {"Reverse", gobBool}, {"Duration", gobInt},
			{"Gap", gobInt}, {"WarmupCount", gobUint}, {"BwRate", gobUint}, {"ToS", gobUint},
		}},
		{"EthrMsgAck", nil},
	}
	if !synced {
		return types
	}
	types[0].fields = append(types[0].fields, field{"SyncStart", typeSyncStart}, field{"SyncReady", typeSyncReady}, field{"SyncGo", typeSyncGo})
	return append(types,
		structure{"EthrMsgSyncStart", nil},
		structure{"EthrMsgSyncReady", []field{{"DelayNs", gobInt}}},
		structure{"EthrMsgSyncGo", []field{{"RttNs", gobInt}}},
	)
}

// members are pointers to the numbers of a message, by the names of their fields.
type members map[string]any

func (m *Message) members() members {
	p := &m.Params
	return members{
		"Version": &m.Version, "Type": &m.Kind,
		"Syn.TestID.Protocol": &m.Transport, "Syn.TestID.Type": &m.Test,
		"Syn.ClientParam.NumThreads": &p.Threads, "Syn.ClientParam.BufferSize": &p.Buffer,
		"Syn.ClientParam.RttCount": &p.Rounds, "Syn.ClientParam.Reverse": &p.Reverse,
		"Syn.ClientParam.Duration": &p.Duration, "Syn.ClientParam.Gap": &p.Gap,
		"Syn.ClientParam.WarmupCount": &p.Warmup, "Syn.ClientParam.BwRate": &p.Rate,
		"Syn.ClientParam.ToS": &p.ToS,
		"SyncReady.DelayNs":   &m.Delay, "SyncGo.RttNs": &m.RTT,
	}
}

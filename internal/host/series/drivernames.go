package series

import "strings"

// mostDriver is how many columns the statistics of a driver have.
const mostDriver = 64

// driverWords are parts of the names that drivers give to what they dropped, could not send,
// or were not allowed to: ena (*_allowance_exceeded), hv_netvsc (vf_*, tx_no_space, stop_queue),
// mlx5 (rx_out_of_buffer, *_discards_phy, tx_queue_stopped), mana, gve (tx_stop,
// rx_no_buffers_posted) and virtio_net (*_drops, tx_timeouts).
var driverWords = []string{
	"allowance", "drop", "discard", "queue_stop", "stop_queue", "tx_stop", "no_buf", "no_space", "out_of_buf", "nobuf", "buff_alloc",
	"tx_busy", "send_full", "ring_full", "timeout", "vf_", "overrun", "missed",
}

// driverQueues are counts of the queues: whether the traffic uses them, and how many.
var driverQueues = []string{"rx_queue_packets", "tx_queue_packets", "rx_queue_bytes", "tx_queue_bytes"}

// cleanKey makes text from elsewhere part of a key.
func cleanKey(text string) string {
	const longest = 32
	out := []byte(text[:min(len(text), longest)])
	for i, c := range out {
		if c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			out[i] = '_'
		}
	}
	return string(out)
}

// driverColumns are the columns of a driver's statistics, and of each statistic the place of
// its column, -1 for none. Statistics of the same name for several queues have one column.
func driverColumns(names []string) (columns []Column, places []int) {
	places = make([]int, len(names))
	at := map[string]int{}
	for i, name := range names {
		places[i] = -1
		key := withoutQueue(name)
		if !wantedStatistic(key) {
			continue
		}
		place, there := at[key]
		if !there {
			if len(columns) == mostDriver {
				continue
			}
			place = len(columns)
			at[key] = place
			columns = append(columns, Column{Key: "driver." + key, Gauge: strings.HasSuffix(key, "_available")})
		}
		places[i] = place
	}
	return columns, places
}

func wantedStatistic(key string) bool {
	for _, word := range driverWords {
		if strings.Contains(key, word) {
			return true
		}
	}
	for _, queue := range driverQueues {
		if key == queue {
			return true
		}
	}
	return false
}

// withoutQueue is the name of a statistic without the number of its queue: queue_3_tx_cnt,
// tx_queue_3_packets, rx3_drops and tx_stop[3] become queue_tx_cnt, tx_queue_packets,
// rx_drops and tx_stop.
func withoutQueue(name string) string {
	name, _, _ = strings.Cut(name, "[")
	words := strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return c == '_' || c == '-' || c == '.' || c == ' ' })
	kept := words[:0]
	for i, word := range words {
		bare := strings.TrimRight(word, "0123456789")
		switch {
		case bare == "" && i > 0 && (words[i-1] == "queue" || words[i-1] == "rx" || words[i-1] == "tx"):
			continue
		case bare == "rx" || bare == "tx" || bare == "queue" || bare == "txq" || bare == "rxq":
			word = bare
		}
		kept = append(kept, word)
	}
	return cleanKey(strings.Join(kept, "_"))
}

package measure

// LoadPayload is the [Spec].Payload of a test that sends streams: the bytes of all
// directions.
func (o Options) LoadPayload() (int64, bool) {
	flows := int64(len(o.Direction.Flows()))
	switch {
	case o.Bytes > 0:
		return int64(o.Bytes) * flows, true
	case o.Rate > 0:
		return int64(float64(o.Rate)/8*(o.Omit+o.Duration).Std().Seconds()) * flows, true
	}
	return 0, false
}

// ExchangePayload is the [Spec].Payload of a test that exchanges messages of one size:
// requests and replies.
func (o Options) ExchangePayload() (int64, bool) {
	switch {
	case o.Count > 0:
		return 2 * o.Count * int64(o.Size), true
	case o.RequestRate > 0:
		return 2 * int64(o.RequestRate*(o.Omit+o.Duration).Std().Seconds()) * int64(o.Size), true
	}
	return 0, false
}

package messages

import "time"

// ago writes ns before now, in the largest whole unit: 2 days ago.
func (l *Language) ago(ns any) (string, error) {
	v, err := Float(ns)
	if err != nil {
		return "", err
	}
	for _, u := range []struct {
		name string
		span time.Duration
	}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}} {
		if n := int64(v / float64(u.span)); n > 0 {
			return l.OrKey("ago."+u.name, Args{"N": n}), nil
		}
	}
	return l.OrKey("ago.now", nil), nil
}

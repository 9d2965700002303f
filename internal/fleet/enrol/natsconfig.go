package enrol

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"text/template"
	"time"

	"soku/internal/measure"
)

//go:embed nats.conf
var natsConfig string

var natsTemplate = template.Must(template.New("nats.conf").Parse(natsConfig))

// NATSConfig is the part of the configuration of a nats-server 2.9.10 or later that has it trust this authority. Listeners,
// TLS and cluster are for the person who runs the brokers to add; comments in it have an example.
func (a *Authority) NATSConfig(revoked map[string]time.Time) (string, error) {
	operator, err := a.OperatorJWT()
	if err != nil {
		return "", err
	}
	accounts, err := a.AccountJWTs(revoked)
	if err != nil {
		return "", err
	}
	type account struct{ ID, JWT string }
	values := struct {
		Operator, System string
		Accounts         []account
		MaxPayload       int
	}{Operator: operator, System: a.system.id, MaxPayload: MaxPayload}
	for _, id := range slices.Sorted(maps.Keys(accounts)) {
		values.Accounts = append(values.Accounts, account{id, accounts[id]})
	}
	var text strings.Builder
	if err := natsTemplate.Execute(&text, values); err != nil {
		return "", measure.AsError(err, measure.KindInternal)
	}
	return text.String(), nil
}

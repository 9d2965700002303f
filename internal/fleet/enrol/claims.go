package enrol

import (
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"soku/internal/fleet"
	"soku/internal/measure"
)

// Bounds of a connection of an agent, which the broker enforces.
const (
	MaxSubscriptions = 20
	// MaxPayload is the size of a message with its header fields, in bytes.
	MaxPayload = fleet.MaxMessage + 8<<10
)

// revokedLasts is how long a revocation stays in the JWT of the account. No JWT of the agent is valid afterwards, even
// if the clock was a day ahead when it was made.
const revokedLasts = 2 * fleet.JWTLasts

// MaxRevoked is how many agents may be revoked within two days: the broker takes no longer JWT of an account.
const MaxRevoked = 4000

// OperatorJWT is that of the operator, whom a broker trusts.
func (a *Authority) OperatorJWT() (string, error) {
	c := jwt.NewOperatorClaims(a.operator.id)
	c.Name = "soku"
	c.SystemAccount = a.system.id
	return signed(c, a.operator)
}

// AccountJWTs are those of both accounts by public key. Agents that were revoked within two days are in the second
// one, each with the time of it; the broker refuses the others by their age.
func (a *Authority) AccountJWTs(revoked map[string]time.Time) (map[string]string, error) {
	system := jwt.NewAccountClaims(a.system.id)
	system.Name = "SYS"
	out := map[string]string{}
	var err error
	if out[a.system.id], err = signed(system, a.operator); err != nil {
		return nil, err
	}
	c := jwt.NewAccountClaims(a.account.id)
	c.Name = "soku"
	c.SigningKeys.Add(a.signing.id)
	c.Limits.Imports, c.Limits.Exports, c.Limits.WildcardExports, c.Limits.LeafNodeConn, c.Limits.DisallowBearer = 0, 0, false, 0, true
	for agent, at := range revoked {
		if time.Since(at) < revokedLasts {
			c.RevokeAt(agent, at.Add(fleet.JWTLasts)) // later than now, should the clock have been ahead
		}
	}
	if len(c.Revocations) > MaxRevoked {
		return nil, measure.Fail(measure.KindRefused, "enrol.revoke.many", measure.Figures{"agents": len(c.Revocations), "limit": MaxRevoked})
	}
	out[a.account.id], err = signed(c, a.operator)
	return out, err
}

// AgentJWT lets an agent connect for a time, and say and hear what [fleet.MayPublish] and [fleet.MayHear] have.
func (a *Authority) AgentJWT(agent string, lasts time.Duration) (string, error) {
	c := jwt.NewUserClaims(agent)
	c.Name = agent
	c.IssuerAccount = a.account.id
	c.Expires = time.Now().Add(lasts).Unix()
	c.Pub.Allow.Add(fleet.MayPublish(agent)...)
	c.Sub.Allow.Add(fleet.MayHear(agent)...)
	c.NatsLimits = jwt.NatsLimits{Subs: MaxSubscriptions, Data: jwt.NoLimit, Payload: MaxPayload}
	c.AllowedConnectionTypes.Add(jwt.ConnectionTypeStandard, jwt.ConnectionTypeWebsocket)
	return signed(c, a.signing)
}

// Hub lets a connection speak as the hub: to all agents, and hear what they say. The inboxes of its requests are not
// of the library: it subscribes below [fleet.Up].
func (a *Authority) Hub() (nats.Option, error) {
	return a.user(a.account.id, a.signing, "hub", jwt.Permissions{
		Pub: jwt.Permission{Allow: jwt.StringList{fleet.Down("*", ">"), fleet.Everyone, fleet.Everyone + ".>"}},
		Sub: jwt.Permission{Allow: jwt.StringList{fleet.AllUp(">")}},
	})
}

// System lets a connection speak with the broker itself: changes of claims, events.
func (a *Authority) System() (nats.Option, error) {
	return a.user(a.system.id, a.system, "hub", jwt.Permissions{
		Pub: jwt.Permission{Allow: jwt.StringList{"$SYS.REQ.>"}},
		Sub: jwt.Permission{Allow: jwt.StringList{"$SYS.ACCOUNT.>", "$SYS.SERVER.>", "_INBOX.>"}},
	})
}

// user makes a key that only this process has, so that its JWT need not end.
func (a *Authority) user(account string, by key, name string, may jwt.Permissions) (nats.Option, error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, err
	}
	user, err := keyOf(pair)
	if err != nil {
		return nil, err
	}
	return nats.UserJWT(func() (string, error) {
		c := jwt.NewUserClaims(user.id)
		c.Name = name
		if account != by.id {
			c.IssuerAccount = account
		}
		c.Permissions = may
		return signed(c, by)
	}, pair.Sign), nil
}

// signed is a JWT of claims that a broker takes.
func signed(c jwt.Claims, by key) (string, error) {
	var found jwt.ValidationResults
	c.Validate(&found)
	if errs := found.Errors(); len(errs) > 0 {
		return "", errs[0]
	}
	return c.Encode(by.pair)
}

package enrol

import (
	"encoding/base64"

	"github.com/nats-io/nkeys"

	"soku/internal/fleet"
	"soku/internal/measure"
)

// prove fails unless an agent signed a nonce of this hub that was not used before.
func (n *nonces) prove(agent, nonce, signature string) error {
	if !fleet.ValidAgent(agent) || !nkeys.IsValidPublicUserKey(agent) {
		return measure.Fail(measure.KindFile, "enrol.agent.syntax", nil)
	}
	random, err := n.decode(nonce)
	if err != nil {
		return err
	}
	if !signedBy(agent, fleet.ToSign(nonce), signature) {
		return measure.Fail(measure.KindRefused, "enrol.signature", nil)
	}
	return n.use(random)
}

const signatureBytes = 64 // of Ed25519

func signedBy(agent string, text []byte, signature string) bool {
	if len(signature) != base64.RawURLEncoding.EncodedLen(signatureBytes) {
		return false
	}
	b, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil {
		return false
	}
	key, err := nkeys.FromPublicKey(agent)
	return err == nil && key.Verify(text, b) == nil
}

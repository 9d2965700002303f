package certificate

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"encoding/hex"

	"soku/internal/measure"
)

// Pin is the SHA-256 of a certificate in DER form, as hexadecimal digits. Its owner need not be known to
// a public authority.
type Pin string

// PinOf is the pin of a certificate.
func PinOf(der []byte) Pin {
	sum := sha256.Sum256(der)
	return Pin(hex.EncodeToString(sum[:]))
}

// Client is the TLS configuration of a client: TLS 1.3, and only a server whose own certificate has the pin. Without a
// pin public authorities decide. A connection to another server fails with kind refused.
func (p Pin) Client() *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS13}
	if p == "" {
		return c
	}
	c.InsecureSkipVerify = true //nolint:gosec // the pin decides
	c.VerifyConnection = func(s tls.ConnectionState) error {
		if len(s.PeerCertificates) == 0 {
			return measure.Fail(measure.KindRefused, "fleet.pin.none", nil)
		}
		got := PinOf(s.PeerCertificates[0].Raw)
		if subtle.ConstantTimeCompare([]byte(got), []byte(p)) != 1 {
			return measure.Fail(measure.KindRefused, "fleet.pin.other", measure.Figures{"got": string(got), "want": string(p)})
		}
		return nil
	}
	return c
}

package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"soku/internal/certificate"
	"soku/internal/measure"
)

// Pin is that of the certificate of a hub.
type Pin = certificate.Pin

// PinOf is the pin of a certificate.
func PinOf(der []byte) Pin { return certificate.PinOf(der) }

// ParsePin reads a pin as people paste it: upper or lower case, with colons or blanks or without. An error has kind usage.
func ParsePin(text string) (Pin, error) {
	plain := strings.ToLower(strings.NewReplacer(":", "", " ", "").Replace(text))
	if b, err := hex.DecodeString(plain); err != nil || len(b) != sha256.Size {
		return "", measure.Fail(measure.KindUsage, "fleet.pin.syntax", measure.Figures{"pin": text})
	}
	return Pin(plain), nil
}

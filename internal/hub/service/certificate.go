package service

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	selfsigned "soku/internal/certificate"
	"soku/internal/durable"
	"soku/internal/fleet"
	"soku/internal/measure"
)

// ownLasts is how long the hub's own certificate is valid. Agents trust its pin, and it is not made again
// without a person, because every agent would have to join again.
const ownLasts = 20 * 365 * 24 * time.Hour

// Files of the hub's own certificate in its folder.
const (
	certificateFile = "certificate.pem"
	keyFile         = "certificate.key"
)

// certificate is that of the files, or where these are empty the hub's own, made for the names if there is
// none. public reports that it was given by the files, so that a public authority may vouch for it.
func certificate(dir, certFile, keyOf string, names []string, now time.Time) (c tls.Certificate, public bool, err error) {
	if public = certFile != ""; !public {
		certFile, keyOf = filepath.Join(dir, certificateFile), filepath.Join(dir, keyFile)
		if _, err := os.Stat(certFile); errors.Is(err, fs.ErrNotExist) {
			if err := makeCertificate(certFile, keyOf, names, now); err != nil {
				return c, false, measure.Fail(measure.KindStore, "hub.certificate.make", measure.Figures{"file": certFile, "cause": err})
			}
		}
	}
	if c, err = tls.LoadX509KeyPair(certFile, keyOf); err != nil {
		return c, public, measure.Fail(measure.KindFile, "hub.certificate.read", measure.Figures{"file": certFile, "key": keyOf, "cause": err})
	}
	return c, public, nil
}

func makeCertificate(certFile, keyOf string, names []string, now time.Time) error {
	c, err := selfsigned.Make("soku-hub", names, now, ownLasts)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		return err
	}
	// The key first: a certificate without a key would be taken as made.
	return errors.Join(
		durable.WriteFile(keyOf, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600),
		durable.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[0]}), 0o644),
	)
}

// pem and pin of a certificate.
func shown(c tls.Certificate) (text string, pin fleet.Pin) {
	for _, der := range c.Certificate {
		text += string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	}
	return text, fleet.PinOf(c.Certificate[0])
}

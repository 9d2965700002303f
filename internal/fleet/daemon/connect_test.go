package daemon

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	"soku/internal/fleet"
)

// certificate is one for localhost that by signs, or itself for nil.
func certificate(t *testing.T, by *tls.Certificate) tls.Certificate {
	t.Helper()
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	c := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "test"}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: by == nil, BasicConstraintsValid: true,
	}
	parent, signer := c, any(key)
	if by != nil {
		parent, signer = by.Leaf, by.PrivateKey
	}
	der := must(x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer))
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: must(x509.ParseCertificate(der))}
}

func TestABrokerProvesThatItIsTheOneOfTheHub(t *testing.T) {
	own, authority := certificate(t, nil), certificate(t, nil)
	signed := certificate(t, &authority)
	asPEM := func(c tls.Certificate) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[0]}))
	}
	for name, c := range map[string]struct {
		broker tls.Certificate
		name   string
		known  membership
		ok     bool
	}{
		"its certificate came with the admission":  {own, "any", membership{Certificates: "junk" + asPEM(authority) + asPEM(own)}, true},
		"it has that of the hub":                   {own, "any", membership{Pin: fleet.PinOf(own.Certificate[0])}, true},
		"an authority of the admission signed":     {signed, "localhost", membership{Certificates: asPEM(authority)}, true},
		"an authority signed, for another name":    {signed, "any", membership{Certificates: asPEM(authority)}, false},
		"it has another":                           {own, "localhost", membership{Certificates: asPEM(authority), Pin: "00"}, false},
		"no public authority signed":               {own, "localhost", membership{}, false},
		"only another authority came":              {signed, "localhost", membership{Certificates: asPEM(own)}, false},
		"what came with the admission is no text":  {own, "localhost", membership{Certificates: "x"}, false},
		"a pin that is empty is that of no broker": {signed, "localhost", membership{Pin: ""}, false},
	} {
		broker := must(tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{c.broker}, MinVersion: tls.VersionTLS13}))
		done := make(chan struct{})
		go func() {
			defer close(done)
			if conn, err := broker.Accept(); err == nil {
				_ = conn.(*tls.Conn).HandshakeContext(t.Context())
				_ = conn.Close()
			}
		}()
		config := brokerTLS(c.known)
		config.ServerName = c.name
		client, err := tls.Dial("tcp", broker.Addr().String(), config)
		if err == nil {
			_ = client.Close()
		}
		<-done
		_ = broker.Close()
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package sock

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
)

// Repeating fills b with the digits from 0 to 9, over and over, which everything on a
// path that compresses makes small. It is the pattern of iperf3.
func Repeating(b []byte) {
	for i := range b {
		b[i] = '0' + byte(i%10)
	}
}

// Incompressible fills b, which must be all zeros, with bytes that nothing on a
// path can compress. They are the key stream of a cipher that processors have
// instructions for, which takes a tenth of the time of as many bytes from the
// system's random source: a trial must wait for them.
func Incompressible(b []byte) {
	var seed [2 * aes.BlockSize]byte
	_, _ = rand.Read(seed[:]) // never fails
	block, err := aes.NewCipher(seed[:aes.BlockSize])
	if err != nil {
		panic(err) // only for a key of a wrong length
	}
	cipher.NewCTR(block, seed[aes.BlockSize:]).XORKeyStream(b, b)
}

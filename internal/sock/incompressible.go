package sock

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
)

// Repeating fills b with the digits 0 to 9, repeated: the pattern of iperf3. A device on
// the path that compresses makes it small.
func Repeating(b []byte) {
	for i := range b {
		b[i] = '0' + byte(i%10)
	}
}

// Incompressible fills b, which must be all zeros, with bytes that cannot be compressed.
// They are the key stream of a cipher with hardware support, which takes a tenth of the
// time of the system's random source; a trial has to wait for them.
func Incompressible(b []byte) {
	var seed [2 * aes.BlockSize]byte
	_, _ = rand.Read(seed[:]) // never fails
	block, err := aes.NewCipher(seed[:aes.BlockSize])
	if err != nil {
		panic(err) // only if the key length is wrong
	}
	cipher.NewCTR(block, seed[aes.BlockSize:]).XORKeyStream(b, b)
}

package rulings

import (
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
)

// PublicKey is a machine's Ed25519 public key: 64 hex digits in lower case.
type PublicKey string

// ParsePublicKey parses a printed key.
func ParsePublicKey(text string) (PublicKey, error) {
	if !isHash(text) { // a hash has the same form
		return "", fmt.Errorf("expected a public key, %d hex digits in lower case, got %q", 2*ed25519.PublicKeySize, text)
	}
	return PublicKey(text), nil
}

// PublicOf returns the public part of a key.
func PublicOf(key ed25519.PrivateKey) PublicKey {
	return PublicKey(hex.EncodeToString(key[ed25519.SeedSize:])) // the public key follows the seed: RFC 8032
}

// sign returns the signature of an entry in hex. It signs the 64 digits of the hash, as ASCII.
func sign(key ed25519.PrivateKey, hash string) string {
	return hex.EncodeToString(ed25519.Sign(key, []byte(hash)))
}

// signatureFault describes a fault of an entry's signature; "" for none. after says that an earlier
// entry is signed.
func signatureFault(key PublicKey, hash, signature string, after bool) string {
	switch {
	case key == "" && signature != "":
		return "it has a signature, and its record names no key"
	case key == "" && after:
		return "it is not signed, and entries before it are"
	case key == "":
		return ""
	case signature == "":
		return "its signature is missing"
	}
	public, err := hex.DecodeString(string(key))
	raw, err2 := hex.DecodeString(signature)
	if err2 == nil && hex.EncodeToString(raw) != signature {
		return "its signature is not in lower-case hex, as the program writes it"
	}
	if err != nil || err2 != nil || len(public) != ed25519.PublicKeySize || !ed25519.Verify(public, []byte(hash), raw) {
		return "its signature is not by the key that its record names"
	}
	return ""
}

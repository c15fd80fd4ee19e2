package token

import (
	"strconv"
	"strings"
)

const unnamedPrefix = "?"

// Unidentified reports whether a ship of a scene is a base whose code is not read, so that its name is a number only.
func Unidentified(id string) bool { return strings.HasPrefix(id, unnamedPrefix) }

// UnidentifiedID is the n-th name for a base without one, from 1 on.
func UnidentifiedID(n int) string { return unnamedPrefix + strconv.Itoa(n) }

package token

import (
	"strconv"
	"strings"
)

const unnamedPrefix = "?"

// Unidentified reports whether an id is the number of an unidentified base.
func Unidentified(id string) bool { return strings.HasPrefix(id, unnamedPrefix) }

// UnidentifiedID returns the n-th name for an unidentified base, from 1 on.
func UnidentifiedID(n int) string { return unnamedPrefix + strconv.Itoa(n) }

package sheet

import (
	"fmt"
	"regexp"
	"strings"

	"sightline/engine"
	"sightline/vision/token"
)

// shipEntry matches one entry of --ships.
var shipEntry = regexp.MustCompile(`^([^:-]+)(?:-([^:-]+))?(?::([^:]*))?$`) // a base's name may have a hyphen

// ParseShips parses "A1,B2:medium,A3-A8:large". A ship may occur once: its code is its identity.
func ParseShips(list string) ([]token.Token, error) {
	var out []token.Token
	seen := map[token.ShipCode]bool{}
	for _, entry := range strings.Split(list, ",") {
		codes, base, err := parseShipEntry(strings.TrimSpace(entry))
		if err != nil {
			return nil, err
		}
		for _, c := range codes {
			if seen[c] {
				return nil, fmt.Errorf("%s is listed twice: expected each ship once", c.ID())
			}
			seen[c] = true
			t, err := token.NewToken(c, base)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", entry, err)
			}
			out = append(out, t)
		}
	}
	return out, nil
}

// parseShipEntry parses one entry of --ships: a ship or a range, and the base.
func parseShipEntry(entry string) ([]token.ShipCode, engine.Base, error) {
	m := shipEntry.FindStringSubmatch(entry)
	if m == nil {
		return nil, 0, fmt.Errorf("%q: expected ID, ID:BASE or FROM-TO:BASE, as A1, B3:large or A1-A8:small", entry)
	}
	from, err := token.CodeOfID(m[1])
	if err != nil {
		return nil, 0, err
	}
	to := from
	if m[2] != "" {
		if to, err = token.CodeOfID(m[2]); err != nil {
			return nil, 0, err
		}
		if to < from || to.Player() != from.Player() {
			return nil, 0, fmt.Errorf("range %q: expected rising numbers of one player, as A1-A8", entry)
		}
	}
	base := engine.Small
	if strings.Contains(entry, ":") {
		base, err = engine.ParseBase(m[3])
		if err != nil {
			return nil, 0, fmt.Errorf("%q: base %q: expected small, medium, large, huge-195 or huge-225", entry, m[3])
		}
	}
	var codes []token.ShipCode
	for c := from; c <= to; c++ {
		codes = append(codes, c)
	}
	return codes, base, nil
}

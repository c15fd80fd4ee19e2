package live

import (
	"strings"

	"sightline/engine"
)

// The groups of objects.
const (
	groupObstacle = "obstacle"
	GroupDevice   = "device"
	GroupMarker   = "marker"
)

const KindCache = "supply_cache"

func IsSatellite(kind string) bool { return kind == "satellite" || kind == "mission_satellite" }

// PartOf reports whether an object is a token, or one of the cards that a token is made
// of: mine1.left of mine1.
func PartOf(object, token string) bool {
	return object == token || strings.HasPrefix(object, token+".")
}

// ObjectOf returns the group and the kind of an object by its id; "" where there is none.
func ObjectOf(s *engine.Scene, id string) (group, kind string) {
	for i := range s.Obstacles {
		if s.Obstacles[i].ID == id {
			return groupObstacle, s.Obstacles[i].Kind
		}
	}
	for i := range s.Devices {
		if PartOf(id, s.Devices[i].ID) {
			return GroupDevice, s.Devices[i].Kind
		}
	}
	for i := range s.Markers {
		if PartOf(id, s.Markers[i].ID) {
			return GroupMarker, s.Markers[i].Kind
		}
	}
	return "", ""
}

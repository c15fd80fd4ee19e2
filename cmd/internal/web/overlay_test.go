package web_test

import "sightline/cmd/internal/web"

func init() {
	for pattern, line := range map[string]routeLine{
		"GET /overlay/{widget}":       {least: web.Nobody, path: "/overlay/all"},
		"GET /overlay/{$}":            {least: web.Nobody, path: "/overlay/"},
		"POST /overlay/token":         {least: web.Player},
		"GET /api/video.mjpg":         {least: web.Reader, status: 503},
		"GET /overlay/clock":          {least: web.Nobody},
		"GET /overlay/demo.json":      {least: web.Nobody},
		"GET /overlay/bootstrap.html": {least: web.Nobody},
	} {
		routeLines[pattern] = line
	}
}

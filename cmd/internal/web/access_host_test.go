package web_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/web"
)

// hosts are Host headers, and whether the machine "table" answers to them, whose owner
// added the router's name for it.
var hosts = map[string]bool{
	"127.0.0.1": true, "127.0.0.1:8080": true, "192.168.1.7:8080": true, "0.0.0.0": true, "[::1]": true, "[::1]:8080": true, "[fe80::1]": true,
	"[fe80::1%eth0]:8080": true, "[::ffff:192.168.1.7]:80": true, "[FE80::1]": true,
	"localhost": true, "localhost:8080": true, "LOCALHOST": true, "localhost.": true, "localhost:": false,
	"table": true, "Table:8080": true, "table.": true, "table.local": true,
	"TABLE.LOCAL.:8080": true, "table.fritz.box": true, "table.fritz.box.:80": true,

	// Names that someone else may own, or another machine of the network.
	"attacker.box": false, "fritz.box": false, "attacker.fritz.box": false,
	"x.home.arpa": false, "table.home.arpa": false, "7.1.168.192.in-addr.arpa": false,
	"attacker.lan": false, "table.lan": false, "attacker.home": false,
	"attacker.internal": false, "attacker.localdomain": false, "attacker.localhost": false,
	"attacker.local": false, "raspberrypi.local": false, "attacker.table.local": false,
	"table.local.attacker.example": false, "local": false, "box": false,
	"attacker.box:8080": false, "attacker.box.": false, "ATTACKER.BOX": false,
	"evil.example": false, "127.0.0.1.evil.example": false, "localhost.evil.example": false,
	"xn--tble-0qa.local": false, "xn--fiq228c": false, "xtable": false, "tabl": false, "table-2.local": false, "ai": false,

	// What is no name at all.
	"": false, ":8080": false, ".": false, "..": false, "table..": false, ".table": false, "table..local": false, "*": false, "*.local": false,
	"table:http": false, "table:80:80": false, "table:-1": false,
	"table:65536": false, "table:80@attacker.box": false, "attacker.box@table": false,
	"table/": false, "table attacker.box": false, "table,attacker.box": false, "table\x00": false,
	"ta\u212Ale": false, "täble.local": false, "ｌocalhost": false,
	"::1": false, "fe80::1%eth0": false, "[::1": false, "[table]": false, "[127.0.0.1]": false,
	"[]": false, "127.1": false, "0x7f.0.0.1": false, "2130706433": false,
}

func TestThePageAnswersToExactNamesOnly(t *testing.T) {
	_, s := everything(t, func(o *web.Options) { o.Access.Names = []string{"table", "table.local", "table.fritz.box"} })
	for host, ok := range hosts {
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
			r := httptest.NewRequest(method, "/api/pair", nil)
			r.Host, r.RemoteAddr = host, loopback
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			assert.Equal(t, !ok, w.Code == http.StatusMisdirectedRequest, "%s of %q: %d", method, host, w.Code)
			if !ok {
				assert.NotContains(t, w.Body.String(), s.PairingCode(), "%q", host)
			}
		}
	}
}

// The name stands in the Host header, or in the request's first line, and there it counts.
func TestTheNameOfTheRequestItselfCounts(t *testing.T) {
	_, s, address := served(t)
	for request, want := range map[string]int{
		"GET /api/pair HTTP/1.1\r\nHost: attacker.box":                                http.StatusMisdirectedRequest,
		"GET http://attacker.box/api/pair HTTP/1.1\r\nHost: localhost":                http.StatusMisdirectedRequest,
		"GET http://localhost/api/pair HTTP/1.1\r\nHost: attacker.box":                http.StatusOK,
		"GET /api/pair HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-Host: attacker.box": http.StatusForbidden, // a proxy is no player
		"GET /api/pair HTTP/1.1\r\nHost: localhost\r\nHost: attacker.box":             http.StatusBadRequest,
		"GET /api/pair HTTP/1.1\r\nHost: localhost\r\n attacker.box":                  http.StatusBadRequest, // a folded header
		"GET /api/pair HTTP/1.1":                                  http.StatusBadRequest,
		"GET /api/pair HTTP/1.0":                                  http.StatusMisdirectedRequest,
		"GET /api/pair HTTP/1.1\r\nHost: localhost#@attacker.box": http.StatusBadRequest,
		"GET /api/pair HTTP/1.1\r\nHost: localhost\r\nForwarded: host=attacker.box;for=[::1]": http.StatusForbidden,
	} {
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		_, err = fmt.Fprintf(conn, "%s\r\nConnection: close\r\n\r\n", request)
		require.NoError(t, err)
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err, request)
		body, _ := io.ReadAll(answer.Body)
		conn.Close()
		assert.Equal(t, want, answer.StatusCode, "%q: %s", request, body)
		if want != http.StatusOK {
			assert.NotContains(t, string(body), s.PairingCode(), request)
		}
	}
}

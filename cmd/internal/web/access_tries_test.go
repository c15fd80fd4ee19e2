package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/racetest"
	"sightline/cmd/internal/web"
)

const rightSecret = "correct horse battery"

// judgeWith tries a judge's secret as a peer.
func judgeWith(s *web.Server, secret, peer, cookie string, header ...string) *httptest.ResponseRecorder {
	return ask(s, http.MethodPost, "/api/pair", fmt.Sprintf(`{"judge_secret":%q,"name":"Jo"}`, secret), peer, cookie, header...)
}

// guess tries wrong codes and secrets until it must wait.
func guess(t *testing.T, s *web.Server, peer string, header ...string) {
	t.Helper()
	for what, try := range map[string]func() int{
		"code": func() int {
			return ask(s, http.MethodPost, "/api/pair", `{"code":"`+wrongCode(s)+`"}`, peer, "", header...).Code
		},
		"secret": func() int { return judgeWith(s, "guess", peer, "", header...).Code },
	} {
		status := http.StatusForbidden
		for range 1000 {
			if status = try(); status != http.StatusForbidden {
				break
			}
		}
		require.Equal(t, http.StatusTooManyRequests, status, "%s from %s %v", what, peer, header)
	}
}

// A device has an IPv4 address, any address of two networks of IPv6, and any link-local one.
func TestOneDeviceCannotUseUpTheTries(t *testing.T) {
	racetest.Skip(t)
	s, c := timed(t)
	for minute := range 240 {
		for i := range 20 {
			for _, peer := range []string{"192.168.7.66:1", fmt.Sprintf("[2001:db8::%x]:1", 99*minute+i), fmt.Sprintf("[fd00::%x]:1", 99*minute+i),
				fmt.Sprintf("[fe80::%x%%eth0]:1", 99*minute+i)} {
				pair(s, peer, wrongCode(s))
				judgeWith(s, "guess", peer, "")
			}
		}
		for _, peer := range []string{network, "[2001:db8:0:1::1]:1", "[fe80::1%wlan0]:1"} {
			answer := pair(s, peer, s.PairingCode())
			require.Equal(t, http.StatusOK, answer.Code, "minute %d, %s: %s", minute, peer, answer.Body)
			require.Equal(t, http.StatusOK, judgeWith(s, rightSecret, peer, "").Code)
		}
		c.pass(time.Minute)
	}
	for _, peer := range []string{"192.168.7.66:9", "[2001:db8::9:9:9]:1", "[fd00::9:9:9]:1", "[fe80::9:9:9%eth0]:1"} {
		guess(t, s, peer)
		assert.Equal(t, http.StatusTooManyRequests, pair(s, peer, s.PairingCode()).Code, "%s itself waits", peer)
	}
}

func TestWrongSecretsDoNotLockTheJudgeOut(t *testing.T) {
	through := func(client string) []string { return []string{"X-Forwarded-For", client} }
	for name, proxy := range map[string]struct{ stranger, judge []string }{
		"each named":       {through("192.168.7.66"), through("192.168.7.21")},
		"with ports":       {through("192.168.7.66:4000"), through("192.168.7.21:4000")},
		"of IPv6":          {through("2001:db8:0:1::66"), through("[2001:db8::21]:9")},
		"claiming another": {through("192.168.7.21, 192.168.7.66"), through("192.168.7.21")},
		"by Forwarded": {[]string{"Forwarded", `for=192.168.7.21, for="[2001:db8::66]:4711";proto=http`},
			[]string{"Forwarded", "proto=http;For=192.168.7.21"}},
		"by X-Real-IP": {[]string{"X-Real-IP", "192.168.7.66"}, []string{"X-Real-IP", "192.168.7.21"}},
		"by both": {append(through("192.168.7.66"), "X-Real-IP", "192.168.7.66"), append(through("192.168.7.21"), "X-Real-IP",
			"192.168.7.21")},
		"claiming this machine": {through("127.0.0.1"), through("192.168.7.21")},
		"claiming nonsense":     {through("attacker"), through("192.168.7.21")},
		"unnamed":               {[]string{"Via", "1.1 proxy"}, through("192.168.7.21")},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := timed(t)
			guess(t, s, loopback, proxy.stranger...)
			assert.Equal(t, http.StatusTooManyRequests, judgeWith(s, rightSecret, loopback, "", proxy.stranger...).Code,
				"the stranger: else guessing went on")
			assert.Equal(t, http.StatusOK, judgeWith(s, rightSecret, loopback, "", proxy.judge...).Code)
			assert.Equal(t, http.StatusOK, judgeWith(s, rightSecret, loopback, "").Code, "at the machine itself")
		})
	}
}

// A proxy that sets one header passes on what its client sends in another. Who sends a
// new address each time must not get new tries each time, nor use up those of another.
func TestAHeaderThatTheProxyDoesNotSetIsNotBelieved(t *testing.T) {
	for name, header := range map[string]func(sets, claims string) []string{
		"X-Real-IP set, X-Forwarded-For claimed": func(sets, claims string) []string {
			return []string{"X-Real-IP", sets, "X-Forwarded-For", claims}
		},
		"X-Real-IP set, Forwarded claimed": func(sets, claims string) []string {
			return []string{"X-Real-IP", sets, "Forwarded", "for=" + claims}
		},
		"X-Forwarded-For set, X-Real-IP claimed": func(sets, claims string) []string {
			return []string{"X-Forwarded-For", sets, "X-Real-IP", claims}
		},
		"Forwarded set, X-Forwarded-For claimed": func(sets, claims string) []string {
			return []string{"Forwarded", "for=" + sets, "X-Forwarded-For", claims}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := timed(t)
			for i := range 5 {
				guess := judgeWith(s, "guess", loopback, "", header("192.168.7.66", fmt.Sprintf("10.1.%d.1", i))...)
				require.Equal(t, http.StatusForbidden, guess.Code)
			}
			assert.Equal(t, http.StatusTooManyRequests, judgeWith(s, rightSecret, loopback, "", header("192.168.7.66", "10.9.9.9")...).Code,
				"another claim gives no new tries")
			for range 5 {
				judgeWith(s, "guess", loopback, "", header("192.168.7.66", "192.168.7.21")...)
			}
			only := header("192.168.7.21", "")[:2]
			assert.Equal(t, http.StatusOK, judgeWith(s, rightSecret, loopback, "", only...).Code, "nor are another's used up")
		})
	}
}

// Where nothing tells the judge's device from a stranger's, its earlier pairing does.
func TestADeviceThatWasPairedHasTriesOfItsOwn(t *testing.T) {
	s, c := timed(t)
	via := []string{"Via", "1.1 proxy"} // says of no one who they are
	cookieOf := func(answer *httptest.ResponseRecorder) string {
		require.Equal(t, http.StatusOK, answer.Code, answer.Body)
		return answer.Result().Cookies()[0].Value
	}
	judge := cookieOf(judgeWith(s, rightSecret, loopback, "", via...))
	player := cookieOf(ask(s, http.MethodPost, "/api/pair", `{"code":"`+s.PairingCode()+`"}`, loopback, "", via...))
	left := cookieOf(judgeWith(s, rightSecret, loopback, "", via...))
	ask(s, http.MethodPost, "/api/unpair", "", loopback, left, via...)
	c.pass(8 * 24 * time.Hour) // both have ended
	assert.Contains(t, ask(s, http.MethodGet, "/api/me", "", network, judge).Body.String(), `"role":"reader"`)
	guess(t, s, loopback, via...)
	for i := range 200 { // and what strangers have together is used up too
		judgeWith(s, "guess", peerNo(i), "")
		pair(s, peerNo(i), wrongCode(s))
	}
	assert.Equal(t, http.StatusTooManyRequests, judgeWith(s, rightSecret, loopback, "", via...).Code, "a device that never was here")
	assert.Equal(t, http.StatusTooManyRequests, judgeWith(s, rightSecret, peerNo(999), "").Code, "wherever it is")
	assert.Equal(t, http.StatusTooManyRequests, judgeWith(s, rightSecret, loopback, judge[:len(judge)-2]+"AA", via...).Code,
		"a forged pairing")
	assert.Equal(t, http.StatusTooManyRequests, judgeWith(s, rightSecret, loopback, left, via...).Code, "one that was ended")
	assert.Equal(t, http.StatusOK, judgeWith(s, rightSecret, loopback, judge, via...).Code)
	assert.Equal(t, http.StatusOK, judgeWith(s, rightSecret, loopback, player, via...).Code)
	assert.Equal(t, http.StatusOK, ask(s, http.MethodPost, "/api/pair", `{"code":"`+s.PairingCode()+`"}`, network, player).Code)
	assert.Equal(t, http.StatusOK, judgeWith(s, rightSecret, loopback, "").Code, "this machine")

	for range 5 {
		assert.Equal(t, http.StatusForbidden, judgeWith(s, "guess", network, player).Code)
	}
	assert.Equal(t, http.StatusTooManyRequests, judgeWith(s, rightSecret, network, player).Code, "it cannot guess either")
	assert.Equal(t, http.StatusOK, judgeWith(s, rightSecret, network, judge).Code)

	guess(t, s, loopback) // through a proxy that does not say that it is one
	assert.Equal(t, http.StatusTooManyRequests, judgeWith(s, rightSecret, loopback, "").Code)
	assert.Equal(t, http.StatusOK, judgeWith(s, rightSecret, loopback, judge).Code)

	c.pass(91 * 24 * time.Hour)
	guess(t, s, loopback, via...)
	assert.Equal(t, http.StatusTooManyRequests, judgeWith(s, rightSecret, loopback, player, via...).Code, "and is forgotten in the end")
}

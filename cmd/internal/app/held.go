package app

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// heldWithin bounds the question to a program that hangs.
const heldWithin = 5 * time.Second

// Held asks the program that runs on this machine with a configuration whether a picture is
// held for a judge. With restart and nothing held, nothing can be held for live.RestartWithin
// either, so that what is said is still so when the program is stopped. An older program, and one
// that is not reached by a loopback address, only says whether something is held now. An error means
// that it cannot be told: none runs, say.
func Held(ctx context.Context, c Web, restart bool) (bool, error) {
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return false, fmt.Errorf("web.listen: %w", err)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	ctx, cancel := context.WithTimeout(ctx, heldWithin)
	defer cancel()
	address := c.scheme() + "://" + net.JoinHostPort(host, port)
	var health struct {
		Held *bool `json:"held"`
	}
	status, err := askProgram(ctx, http.MethodGet, address+"/healthz", "", &health)
	if err == nil && health.Held == nil {
		err = errors.New("its answer does not name it: it is of an older version, or another program")
	}
	if err != nil {
		if status != 0 {
			err = fmt.Errorf("whether a picture is held: %w", err)
		}
		return false, err
	}
	if *health.Held || !restart {
		return *health.Held, nil
	}
	status, err = askProgram(ctx, http.MethodPost, address+"/api/freeze", `{"hold":false,"restart":true}`, nil)
	switch {
	case err != nil:
		return false, err
	case status == http.StatusConflict:
		return true, nil
	case status == http.StatusOK, status == http.StatusBadRequest, status == http.StatusForbidden:
		return false, nil // 400: an older program; 403: it listens on an address that is not this machine's alone
	}
	return false, fmt.Errorf("whether something is held until the restart: status %d", status)
}

// askProgram asks the program for JSON; status is 0 when it does not answer.
func askProgram(ctx context.Context, method, url, body string, into any) (status int, err error) {
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	// The certificate names the machine as others reach it. No secret is told to who answers.
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec
	answer, err := client.Do(r)
	if err != nil {
		return 0, fmt.Errorf("the program does not answer: %w", err)
	}
	defer answer.Body.Close()
	if into != nil {
		err = json.NewDecoder(io.LimitReader(answer.Body, 64<<10)).Decode(into)
	}
	return answer.StatusCode, err
}

package app

import (
	"cmp"
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

	"sightline/cmd/internal/live"
	"sightline/cmd/internal/sentence"
)

// heldWithin bounds the question to a program that hangs.
const heldWithin = 5 * time.Second

// Held asks the program that runs on this machine with a configuration whether a picture is
// held for a judge, and returns a sentence that says so; "": none is. With restart it also says
// whether one was released that a judge may hold again; if neither is so, nothing can be held for
// live.RestartWithin either, so that what is said is still so when the program is stopped. An older
// program, and one that is not reached by a loopback address, only says whether something is held
// now. An error means that it cannot be told: none runs, say.
func Held(ctx context.Context, c Web, restart bool) (why string, err error) {
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return "", fmt.Errorf("web.listen: %w", err)
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
	status, body, err := askProgram(ctx, http.MethodGet, address+"/healthz", "")
	if err == nil {
		err = json.Unmarshal(body, &health)
	}
	if err == nil && health.Held == nil {
		err = errors.New("its answer does not name it: it is of an older version, or another program")
	}
	if err != nil {
		if status != 0 {
			err = fmt.Errorf("whether a picture is held: %w", err)
		}
		return "", err
	}
	switch {
	case *health.Held:
		return live.ErrHeld.Text, nil
	case !restart:
		return "", nil
	}
	status, body, err = askProgram(ctx, http.MethodPost, address+"/api/freeze", `{"hold":false,"restart":true}`)
	switch {
	case err != nil:
		return "", err
	case status == http.StatusConflict:
		return cmp.Or(sentence.Printable(strings.TrimSpace(string(body)), ' '), live.ErrHeld.Text), nil
	case status == http.StatusOK, status == http.StatusBadRequest, status == http.StatusForbidden:
		return "", nil // 400: an older program; 403: it listens on an address that is not this machine's alone
	}
	return "", fmt.Errorf("whether something is held until the restart: status %d", status)
}

// answerMost is how much of the program's answer is read, in bytes.
const answerMost = 64 << 10

// askProgram sends a request to the running program; status is 0 when it does not answer.
func askProgram(ctx context.Context, method, url, body string) (status int, answer []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	// The certificate names the machine as others reach it. The program that answers gets no secret.
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec
	reply, err := client.Do(r)
	if err != nil {
		return 0, nil, fmt.Errorf("the program does not answer: %w", err)
	}
	defer reply.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(reply.Body, answerMost))
	return reply.StatusCode, answer, err
}

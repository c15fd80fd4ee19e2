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

// heldWithin limits how long Held waits for the program.
const heldWithin = 5 * time.Second

// Held asks the program that runs on this machine with a configuration whether a picture is held
// for a judge. It returns a sentence that says so, or "".
//
// With restart it also says so if a released picture may still be held again by a judge. If not,
// the program holds nothing for live.RestartWithin, so the answer stays true until the caller has
// stopped it. An older program, or one without a loopback address, only tells about the present
// moment.
//
// An error means that there is no answer, for example because no program runs.
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
		return "", nil // 400: an older program; 403: it does not listen on a loopback address
	}
	return "", fmt.Errorf("whether something is held until the restart: status %d", status)
}

// answerMost limits the answer, in bytes.
const answerMost = 64 << 10

// askProgram sends a request to the running program. status is 0 if it does not answer.
func askProgram(ctx context.Context, method, url, body string) (status int, answer []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	// The certificate is for the machine's name on the network. The program receives no secret.
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec
	reply, err := client.Do(r)
	if err != nil {
		return 0, nil, fmt.Errorf("the program does not answer: %w", err)
	}
	defer reply.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(reply.Body, answerMost))
	return reply.StatusCode, answer, err
}

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
	"time"
)

// heldWithin bounds the question to a program that hangs.
const heldWithin = 5 * time.Second

// Held asks the program that runs on this machine with a configuration whether a picture is
// held for a judge. An error means that it cannot be told: none runs, say.
func Held(ctx context.Context, c Web) (bool, error) {
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return false, fmt.Errorf("web.listen: %w", err)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	ctx, cancel := context.WithTimeout(ctx, heldWithin)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.scheme()+"://"+net.JoinHostPort(host, port)+"/healthz", nil)
	if err != nil {
		return false, err
	}
	// The certificate names the machine as others reach it. Nothing is told to who answers.
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec
	answer, err := client.Do(r)
	if err != nil {
		return false, fmt.Errorf("the program does not answer: %w", err)
	}
	defer answer.Body.Close()
	var health struct {
		Held *bool `json:"held"`
	}
	err = json.NewDecoder(io.LimitReader(answer.Body, 64<<10)).Decode(&health)
	if err == nil && health.Held == nil {
		err = errors.New("its answer does not name it: it is of an older version, or another program")
	}
	if err != nil {
		return false, fmt.Errorf("whether a picture is held: %w", err)
	}
	return *health.Held, nil
}

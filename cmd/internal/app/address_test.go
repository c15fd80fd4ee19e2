package app

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"sightline/cmd/internal/live"
)

// network is a machine's interfaces, as a test changes them.
type network struct {
	ips []string
	err error
	now time.Time
}

func (n *network) interfaces() (all []net.Addr, _ error) {
	for _, ip := range append([]string{"127.0.0.1"}, n.ips...) {
		all = append(all, &net.IPNet{IP: net.ParseIP(ip), Mask: net.CIDRMask(24, 32)})
	}
	return all, n.err
}

// address is that of a page that is served on every interface.
func (n *network) address() *pageAddress {
	p := newPageAddress("http", &net.TCPAddr{IP: net.IPv6unspecified, Port: 8080}, nil)
	p.interfaces, p.now = n.interfaces, func() time.Time { return n.now }
	return p
}

func TestThePhonesAddressIsOneThatAPhoneCanReach(t *testing.T) {
	at := func(ip net.IP, port int) string {
		return newPageAddress("http", &net.TCPAddr{IP: ip, Port: port}, nil).get()
	}
	assert.Empty(t, at(net.IPv4(127, 0, 0, 1), 8080), "no other machine is served")
	assert.Equal(t, "http://192.168.1.4:80/", at(net.IPv4(192, 168, 1, 4), 80))
	if all := at(net.IPv6unspecified, 80); all != "" {
		assert.False(t, strings.Contains(all, "[::]") || strings.Contains(all, "127."), all)
	}
}

// A box on Wi-Fi starts before it has an address, and gets another one later.
func TestTheAddressFollowsTheNetwork(t *testing.T) {
	n := &network{now: time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)}
	p := n.address()
	var log bytes.Buffer
	p.changed = func(address string) { tellPairing(slog.New(slog.NewTextHandler(&log, nil)), address, "K4MWQX") }
	menu := panelMenu{address: p.get, now: p.now}
	shown := func() string { return menu.world(&live.State{}).Address }
	assert.Empty(t, shown())
	assert.Empty(t, log.String(), "there is no address to tell")
	n.ips = []string{"169.254.7.7", "192.168.7.5"}
	assert.Empty(t, shown(), "the interfaces are asked once a second at most")
	n.now = n.now.Add(time.Second)
	assert.Equal(t, "http://192.168.7.5:8080/", shown(), "a link-local address is none that others reach")
	assert.Contains(t, log.String(), "http://192.168.7.5:8080/pair")
	assert.Contains(t, log.String(), "K4MWQX")
	log.Reset()
	n.now = n.now.Add(time.Minute)
	assert.Equal(t, "http://192.168.7.5:8080/", shown())
	assert.Empty(t, log.String(), "it is told once")
	n.ips = []string{"10.0.0.9"}
	n.now = n.now.Add(-time.Hour) // a board without a clock chip learns the time
	assert.Equal(t, "http://10.0.0.9:8080/", shown())
	assert.Contains(t, log.String(), "http://10.0.0.9:8080/pair")
	n.err = errors.New("netlink is not there")
	n.now = n.now.Add(time.Minute)
	assert.Empty(t, shown())
}

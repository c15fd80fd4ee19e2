package app

import (
	"log/slog"
	"net"
	"sync"
	"time"
)

// pageAddress returns the address at which a phone at the same table reaches the page. The network
// may come up after the program and change while it runs (Wi-Fi, DHCP), so get looks again whenever
// the address is shown, once a second at most.
type pageAddress struct {
	scheme     string
	listening  net.Addr
	interfaces func() ([]net.Addr, error)
	now        func() time.Time
	changed    func(address string) // called with each new address; may be nil

	mu    sync.Mutex // guards the fields below
	asked time.Time
	last  string
	told  string // the address last passed to changed
}

// addressEvery is the least time between two looks at the interfaces.
const addressEvery = time.Second

func newPageAddress(scheme string, listening net.Addr, changed func(address string)) *pageAddress {
	return &pageAddress{scheme: scheme, listening: listening, interfaces: net.InterfaceAddrs, now: time.Now, changed: changed}
}

// get returns the page's address on this machine. It returns "" if no other machine can reach the
// page, or without a network.
func (p *pageAddress) get() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := p.now(); p.asked.IsZero() || now.Sub(p.asked) >= addressEvery || now.Before(p.asked) {
		p.asked, p.last = now, p.find()
		if p.last != "" && p.last != p.told && p.changed != nil {
			p.told = p.last
			p.changed(p.last)
		}
	}
	return p.last
}

func (p *pageAddress) find() string {
	tcp, ok := p.listening.(*net.TCPAddr)
	if !ok || tcp.IP.IsLoopback() {
		return ""
	}
	ip := tcp.IP
	if ip.IsUnspecified() {
		if ip = p.own(); ip == nil {
			return ""
		}
	}
	host := net.TCPAddr{IP: ip, Port: tcp.Port}
	return p.scheme + "://" + host.String() + "/"
}

// own returns the first IPv4 address at which others can reach this machine.
func (p *pageAddress) own() net.IP {
	all, err := p.interfaces()
	if err != nil {
		return nil
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && n.IP.IsGlobalUnicast() {
			return n.IP
		}
	}
	return nil
}

// tellPairing logs how phones pair, if they reach the page: a box may have no display.
func tellPairing(log *slog.Logger, address, code string) {
	log.Info("phones pair at this address with this code, good once and for five minutes; "+
		"a newer one is at /pair in a browser on this machine, and on the display if there is one", "address", address+"pair", "code", code)
}

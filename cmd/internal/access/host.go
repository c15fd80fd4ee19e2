package access

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// A page of another site may point its own name at this machine and then read this one as
// its own (DNS rebinding). It cannot do so under an address, nor under a name that is not
// its own: so the server answers to addresses and to exact names, and to nothing else. A
// suffix proves nothing: .box is sold to everyone, and any name below .home.arpa or
// .lan is whatever the network's name server says.

// OwnHosts refuses requests for a host that is none of this machine's names.
func (g *Guard) OwnHosts(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, ok := hostName(r.Host); !ok || !g.answersTo(name) {
			http.Error(w, fmt.Sprintf("This page is not served under the name %q; use the machine's address, localhost or %s, or list the name "+
				"in web.names of the configuration.",
				r.Host, g.ownNames()), http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ownNames lists the machine's names for people.
func (g *Guard) ownNames() string {
	if len(g.o.Names) == 0 {
		return "its own name"
	}
	return strings.Join(g.o.Names, ", ")
}

// answersTo reports whether a host, as hostName returns it, is this machine.
func (g *Guard) answersTo(name string) bool {
	if _, err := netip.ParseAddr(name); err == nil { // with a zone too: no name server is asked for it
		return true
	}
	return name == "localhost" || slices.Contains(g.o.Names, name)
}

// hostName returns the host of a Host header in lower case, without port, brackets and
// the dot at its end. ok says that the header can be read.
func hostName(header string) (name string, ok bool) {
	host := header
	if name, port, err := net.SplitHostPort(header); err == nil {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return "", false
		}
		host = name
		if strings.Contains(name, ":") {
			host = "[" + name + "]"
		}
	}
	if inner, bracket := strings.CutPrefix(host, "["); bracket {
		inner, closed := strings.CutSuffix(inner, "]")
		a, err := netip.ParseAddr(inner)
		return inner, closed && err == nil && a.Is6()
	}
	return CanonicalName(host)
}

// CanonicalName returns a host name as the server compares it: in lower case, without the
// dot at its end. ok is false for what is no name: letters, digits, hyphens, underscores and dots.
func CanonicalName(host string) (name string, ok bool) {
	host = strings.TrimSuffix(host, ".")
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 || strings.ContainsFunc(label, notOfName) {
			return "", false
		}
	}
	return strings.ToLower(host), len(host) <= 253
}

func notOfName(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_')
}

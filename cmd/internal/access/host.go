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

// Another site may let its own name resolve to this machine and then read our pages as its own (DNS
// rebinding). It cannot do that with an address, or with a name that is not its own. So the server
// answers only to addresses and exact names. A suffix proves nothing: anyone can buy a name below
// .box, and the network's name server decides about names below .home.arpa or .lan.

// OwnHosts refuses requests whose host is not one of this machine's names.
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

// answersTo reports whether the server answers to a host, as hostName returns it.
func (g *Guard) answersTo(name string) bool {
	if _, err := netip.ParseAddr(name); err == nil { // also with a zone: no name server is involved
		return true
	}
	return name == "localhost" || slices.Contains(g.o.Names, name)
}

// hostName returns the host of a Host header in lower case, without port, brackets and trailing
// dot. It reports false for an invalid header.
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

// CanonicalName returns a host name in the form in which the server compares names: in lower case,
// without the trailing dot. It reports false for an invalid name; valid are letters, digits,
// hyphens, underscores and dots.
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

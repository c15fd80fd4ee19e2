package hall

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"sightline/cmd/internal/access"
	"sightline/cmd/internal/event"
	"sightline/cmd/internal/web"
)

// tunnelWithin is how long a table may take to answer a forwarded request.
const tunnelWithin = 20 * time.Second

// tunnel forwards a request for /t/TABLE/… to the table, with the client's role here, and sends its
// answer back. The table decides and records. Its pages work here because their addresses are
// rewritten.
func (h *Hall) tunnel(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("table")
	if event.CheckName("table", name) != nil {
		http.NotFound(w, r)
		return
	}
	if answeredHere(w, r, name) {
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "The request is too long.", http.StatusRequestEntityTooLarge)
		return
	}
	target := strings.TrimPrefix(r.URL.EscapedPath(), "/t/"+name)
	if r.URL.RawQuery != "" {
		target += "?" + r.URL.RawQuery
	}
	answer, err := h.ask(r.Context(), name, r.Method, target, h.guard.Session(r), r.Header, body)
	if errors.Is(err, errSilent) {
		http.Error(w, "Table "+name+" does not answer, and was not asked.", http.StatusBadGateway)
		return
	}
	if err != nil {
		http.Error(w, "Table "+name+" does not answer. It may or may not have done what you asked: check at the table.",
			http.StatusBadGateway)
		return
	}
	passOn(w, name, answer)
}

// answeredHere answers what a table is not asked, and reports whether it did.
func answeredHere(w http.ResponseWriter, r *http.Request, name string) bool {
	switch rest := "/" + r.PathValue("path"); {
	case rest == "/api/me" || rest == "/api/pair" || rest == "/api/unpair":
		http.Redirect(w, r, rest, http.StatusTemporaryRedirect) // people sign in here, not there
	case rest == "/pair":
		http.Redirect(w, r, "/pair?next="+url.QueryEscape("/t/"+name+"/judge"), http.StatusSeeOther)
	case strings.HasPrefix(rest, "/overlay/") && path.Ext(rest) == "": // the page of the table's director shows it in a frame
		q := r.URL.Query()
		q.Set("table", name)
		http.Redirect(w, r, rest+"?"+q.Encode(), http.StatusTemporaryRedirect)
	case strings.HasSuffix(rest, "/events") || rest == "/api/video.mjpg":
		http.Error(w, "The hall passes on a table's state but no streams: open this at the table itself.", http.StatusNotImplemented)
	default:
		return false
	}
	return true
}

// passOn writes a table's answer, with its addresses below /t/NAME.
func passOn(w http.ResponseWriter, name string, answer *nats.Msg) {
	for _, key := range event.Returned() {
		if v := answer.Header.Get(key); v != "" {
			w.Header().Set(key, v)
		}
	}
	status, err := strconv.Atoi(answer.Header.Get(event.HeaderStatus))
	if err != nil || status < 200 || status > 599 {
		status = http.StatusBadGateway
	}
	web.AllowFrames(w)
	w.WriteHeader(status)
	page := answer.Data
	if !strings.HasPrefix(answer.Header.Get("Content-Disposition"), "attachment") { // a file stays as the table sends it
		page = readdress(name, answer.Header.Get("Content-Type"), page)
	}
	_, _ = w.Write(page)
}

// errSilent is the error for a table that has been silent too long: a request might reach it much
// later.
var errSilent = errors.New("hall: the table was not heard of late")

// until returns the reading of a table's steady clock at which the hall stops waiting for its
// answer.
func (h *Hall) until(name string) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t, known := h.tables[name]
	if !known {
		return "", errSilent
	}
	now := h.up()
	up, ok := t.clock.reads(now+tunnelWithin, now)
	if !ok {
		return "", errSilent
	}
	return event.Until(t.clock.session, up), nil
}

// ask sends a request to one of a table's addresses.
func (h *Hall) ask(ctx context.Context, name, method, target string, who access.Session, header http.Header,
	body []byte) (*nats.Msg, error) {
	until, err := h.until(name)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, tunnelWithin)
	defer stop()
	m := nats.NewMsg(event.SubjectsOf(h.event, name).Ask(event.AskHTTP))
	m.Header.Set(event.HeaderMethod, method)
	m.Header.Set(event.HeaderUntil, until)
	m.Header.Set(event.HeaderPath, target)
	m.Header.Set(event.HeaderRole, who.Role.String())
	m.Header.Set(event.HeaderName, who.Name)
	for _, key := range event.Passed() {
		if v := header.Get(key); v != "" {
			m.Header.Set(key, v)
		}
	}
	m.Data = body
	h.figures.asks.Add(1)
	answer, err := h.conn.RequestMsgWithContext(ctx, m)
	if err == nil && answer.Header.Get(event.HeaderStatus) == "" {
		err = errors.New("hall: the table's answer has no status")
	}
	return answer, err
}

// An address of the table's own server in its pages and modules is a text that begins with a slash
// and a letter. In style sheets it may be in url() without quotes.
var (
	addresses      = regexp.MustCompile("([\"'`])/([A-Za-z])")
	styleAddresses = regexp.MustCompile(`(["'(])/([A-Za-z])`)
)

// readdress rewrites the addresses in a table's page, module or style sheet to those of the hall.
func readdress(name, contentType string, body []byte) []byte {
	kind, _, _ := strings.Cut(contentType, ";")
	switch kind {
	case "text/html":
		return named(name, addresses.ReplaceAll(body, []byte("${1}/t/"+name+"/$2")))
	case "text/javascript", "application/javascript":
		return addresses.ReplaceAll(body, []byte("${1}/t/"+name+"/$2"))
	case "text/css":
		return styleAddresses.ReplaceAll(body, []byte("${1}/t/"+name+"/$2"))
	}
	return body
}

// named adds the table's name and a way back to a table's page. All tables' pages look alike, and a
// judge may have several open.
func named(name string, page []byte) []byte {
	for _, put := range []struct{ at, text string }{
		{"<title>", "<title>Table " + name + " · "},
		{"</head>", `<link rel="stylesheet" href="/hall/table.css"></head>`},
		{"</h1>", `</h1><p class="of-the-hall"><b>Table ` + name + `</b> <a href="/">The hall</a></p>`},
	} {
		page = bytes.Replace(page, []byte(put.at), []byte(put.text), 1)
	}
	return page
}

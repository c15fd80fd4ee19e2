//go:build browser

package hall_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/browsertest"
)

// sampler notes, twenty times a second, how old what a page shows as live is. After the browser
// was stopped it gives the page a second: no program runs before it is continued.
const sampler = `(() => {
	window.worst = {};
	let last = performance.now(), from = last;
	const note = (what, name) => {
		const age = Date.now() - Number(name);
		if (name && Number.isFinite(age)) worst[what] = { most: Math.max(worst[what]?.most ?? 0, age), seen: (worst[what]?.seen ?? 0) + 1 };
	};
	setInterval(() => {
		const now = performance.now();
		if (now - last > 500) from = now + 1000;
		last = now;
		if (now < from) return;
		for (const e of document.querySelectorAll(".tile")) {
			if (e.dataset.kind !== "silent") note("tile " + e.dataset.table, e.querySelector(".score span")?.textContent);
		}
		const d = document.getElementById("shown")?.contentDocument;
		if (d?.getElementById("match") && !d.getElementById("match").hidden) note("overlay", d.getElementById("match-name-1").dataset.name);
	}, 50);
	return true;
})()`

// descendants are a process and all that it started.
func descendants(pid int) []int {
	all := []int{pid}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	children := map[int][]int{}
	for _, path := range stats {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue // it ended
		}
		fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
		child, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		parent, _ := strconv.Atoi(fields[1])
		children[parent] = append(children[parent], child)
	}
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all
}

// pages are the hall's page and its director's, with the overlay of the table on air, in one
// browser.
type pages struct {
	hall, director context.Context
}

func open(t *testing.T, r *running) pages {
	ctx := browsertest.New(t, 4*time.Minute, chromedp.WindowSize(1280, 900))
	second, cancel := chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	require.NoError(t, chromedp.Run(second)) // else the tab would end with the context of its first action
	p := pages{ctx, second}
	within(t, p.hall, "the hall", chromedp.Navigate(r.page+"/"), chromedp.WaitVisible(`.tile[data-table="12"]`), until(sampler))
	within(t, p.director, "its director", chromedp.Navigate(r.page+"/director"), chromedp.WaitVisible(`#air button[data-table="12"]`), until(sampler))
	return p
}

// shows waits until tile 7 and the overlay show something as live, or nothing.
func (p pages) shows(t *testing.T, what string, tile, overlay bool) {
	t.Helper()
	within(t, p.hall, what, until(fmt.Sprintf(`(document.querySelector('.tile[data-table="7"]').dataset.kind !== "silent") === %v`, tile)))
	within(t, p.director, what, air(fmt.Sprintf(`on("match") === %v`, overlay)))
}

// TestNothingOldIsShownAsLiveWhoeverStalls: the hall is stopped, killed and started again, a Wi-Fi
// stalls, a table hangs, the browser is stopped, the director switches, the table on air is sent home,
// all while the pages are open. What they show as live is never much older than three seconds, and they come
// back without being loaded again.
func TestNothingOldIsShownAsLiveWhoeverStalls(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	t.Parallel()
	p := spawn(t, true)
	w := newWifi(t, p.tables)
	seven, twelve := join(t, w.through(p.invite(t, "7"))), join(t, p.invite(t, "12"))
	seven.seeing(t, [2]string{"", "Ben"})
	twelve.seeing(t, [2]string{"", "Dan"})
	seven.timed.Store(true)
	twelve.timed.Store(true)
	onAir := func(table string) {
		status, text := p.send(t, http.MethodPut, "/api/program", `{"table":"`+table+`"}`)
		require.Equal(t, http.StatusOK, status, text)
	}
	onAir("7")
	page := open(t, p.running)
	page.shows(t, "both are there", true, true)

	_ = p.command.Process.Signal(syscall.SIGSTOP)
	page.shows(t, "the hall is stopped", false, false)
	_ = p.command.Process.Signal(syscall.SIGCONT)
	page.shows(t, "the hall goes on", true, true)

	end := w.stall()
	page.shows(t, "the Wi-Fi stalls", false, false)
	for _, table := range []string{"12", "7", "12", "7"} { // a table that is there, and the one that is not
		onAir(table)
		time.Sleep(300 * time.Millisecond)
	}
	page.shows(t, "and the director switches", false, false)
	end()
	page.shows(t, "the Wi-Fi is back", true, true)

	browser := descendants(chromedp.FromContext(page.hall).Browser.Process().Pid)
	for _, pid := range browser {
		_ = syscall.Kill(pid, syscall.SIGSTOP)
	}
	time.Sleep(8 * time.Second)
	for _, pid := range browser {
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
	page.shows(t, "the browser was stopped", true, true)

	p.end(syscall.SIGKILL)
	page.shows(t, "the hall is killed", false, false)
	p.start(t)
	page.shows(t, "the hall is started again", true, true)

	seven.hangs.Store(true)
	page.shows(t, "the table hangs", false, false)
	seven.hangs.Store(false)
	page.shows(t, "the table goes on", true, true)
	require.NoError(t, p.invites.Revoke("7"))
	page.shows(t, "the table on air is sent home", false, false)
	onAir("12")
	page.shows(t, "the other one is on air", false, true)

	for _, ctx := range []context.Context{page.hall, page.director} {
		var raw string
		require.NoError(t, chromedp.Run(ctx, chromedp.Evaluate(`JSON.stringify(worst)`, &raw)))
		var worst map[string]struct {
			Most float64
			Seen int
		}
		require.NoError(t, json.Unmarshal([]byte(raw), &worst))
		assert.NotEmpty(t, worst)
		for what, is := range worst {
			assert.Less(t, is.Most, 4000.0+float64(time.Duration(late.Load()).Milliseconds()), what)
			assert.Greater(t, is.Seen, 20, what)
		}
		t.Log("the oldest that was shown as live, ms:", raw)
	}
}

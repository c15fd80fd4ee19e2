package hall_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/access"
	"sightline/cmd/internal/event"
	"sightline/cmd/internal/hall"
)

// The orders of a test's child process.
const (
	childDir    = "HALL_TEST_DIR" // its state folder; "": this is no child
	childListen = "HALL_TEST_LISTEN"
	childTables = "HALL_TEST_TABLES" // "": it is a plain HTTP server to compare with
	childTable  = "HALL_TEST_TABLE"  // the state folder of a table, which this process is then
	childDisk   = "HALL_TEST_DISK"   // size of a disk of its own for the folder, such as 64m; "": none
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childTable); dir != "" {
		fmt.Fprintln(os.Stderr, playAlone(dir))
		os.Exit(1)
	}
	if dir := os.Getenv(childDir); dir != "" {
		os.Exit(child(dir, os.Getenv(childListen), os.Getenv(childTables)))
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil { // they wait more than they work
		panic(err)
	}
	go noteLate()
	os.Exit(m.Run())
}

// child runs a hall, or what it is compared with, in a process of its own.
func child(dir, listen, tables string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var err error
	if size := os.Getenv(childDisk); size != "" {
		err = syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size)
	}
	if err != nil {
		fmt.Println("no disk of its own:", err)
		return 0
	}
	if tables == "" {
		err = plain(ctx, dir, listen)
	} else {
		err = hall.Run(ctx, hall.Options{
			Dir: dir, Listen: listen, Tables: tables, Version: "test", Access: access.Options{JudgeSecret: secret},
			Log:   slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
			Ready: func(string, string) { fmt.Println("ready") },
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// plain is the least that a hall could be: it takes states and rulings over HTTP, keeps the
// newest state in memory and each ruling in a synced file.
func plain(ctx context.Context, dir, listen string) error {
	var mu sync.Mutex
	newest := map[string][]byte{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /health/{table}", func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		newest[r.PathValue("table")] = body
	})
	mux.HandleFunc("POST /ruling/{table}/{n}", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		f, err := os.Create(filepath.Join(dir, r.PathValue("table")+"-"+r.PathValue("n")))
		if err == nil {
			_, err = f.Write(body)
		}
		if err == nil {
			err = f.Sync()
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
		f.Close()
	})
	mux.HandleFunc("GET /livez", func(http.ResponseWriter, *http.Request) {})
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	server := &http.Server{Handler: mux}
	context.AfterFunc(ctx, func() { server.Close() })
	if err := server.Serve(l); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// process is a child.
type process struct {
	*running
	command *exec.Cmd
	env     []string
	disk    string // its size; "": it has none of its own
}

// freePorts counts the ports that freeAddress gave.
var freePorts atomic.Int32

var firstPort = rand.IntN(20_000)

// freeAddress is one that nothing listens on, each time another. Its port is none of those that the
// kernel gives to connections, one of which could take it while a hall is started again.
func freeAddress(t testing.TB) string {
	t.Helper()
	for range 1000 {
		address := fmt.Sprintf("127.0.0.1:%d", 10_000+(firstPort+int(freePorts.Add(1)))%20_000)
		if l, err := net.Listen("tcp", address); err == nil {
			require.NoError(t, l.Close())
			return address
		}
	}
	t.Fatal("no port is free")
	return ""
}

// spawn starts a child on one core. Without tables it is the plain server.
func spawn(t testing.TB, tables bool) *process { return spawnOnDisk(t, tables, "") }

// spawnOnDisk does the same on a small disk of its own.
func spawnOnDisk(t testing.TB, tables bool, disk string) *process {
	t.Helper()
	p := &process{running: &running{dir: t.TempDir()}, disk: disk}
	listen := freeAddress(t)
	p.env = append(os.Environ(), childDir+"="+p.dir, childDisk+"="+disk, childListen+"="+listen, "GOMAXPROCS=1")
	p.page = "http://" + listen
	if tables {
		p.tables = freeAddress(t)
		p.env = append(p.env, childTables+"="+p.tables)
	}
	p.start(t)
	t.Cleanup(func() { p.end(syscall.SIGKILL) })
	if p.disk != "" {
		p.dir = fmt.Sprintf("/proc/%d/root%s", p.command.Process.Pid, p.dir)
	}
	if tables {
		var err error
		p.invites, err = hall.OpenInvites(p.dir, time.Now)
		require.NoError(t, err)
	}
	return p
}

func (p *process) start(t testing.TB) {
	t.Helper()
	p.command = exec.Command(os.Args[0])
	p.command.Env, p.command.Stderr = p.env, os.Stderr
	if p.disk != "" {
		own := func(id int) []syscall.SysProcIDMap {
			return []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}}
		}
		p.command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: own(os.Getuid()), GidMappings: own(os.Getgid())}
	}
	out, err := p.command.StdoutPipe()
	require.NoError(t, err)
	if err := p.command.Start(); err != nil && p.disk != "" {
		t.Skip("no disk of its own for a process here:", err)
	} else if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err, "the child did not start")
	if p.disk != "" && strings.HasPrefix(line, "no disk") {
		t.Skip(line)
	}
	require.Equal(t, "ready\n", line)
}

func (p *process) end(s syscall.Signal) {
	_ = p.command.Process.Signal(s)
	_ = p.command.Wait()
}

// used is what a process has taken: processor time, and the most memory at once.
func (p *process) used(t testing.TB) (cpu time.Duration, peakMB float64) {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.command.Process.Pid))
	require.NoError(t, err)
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')'):]))
	for _, f := range fields[12:14] { // utime, stime in hundredths of a second
		n, err := strconv.ParseInt(f, 10, 64)
		require.NoError(t, err)
		cpu += time.Duration(n) * 10 * time.Millisecond
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	require.NoError(t, err)
	return cpu, kb / 1024
}

// size reads how large a test is to be.
func size(t testing.TB, name string, small int) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		return small
	}
	return n
}

// timed notes when an entry was handed over and how long it took until it was acknowledged.
type timed struct {
	*book
	mu    sync.Mutex
	given map[int64]time.Time
}

func (b *timed) Entry(ctx context.Context, number int64) (event.Entry, error) {
	b.mu.Lock()
	if b.given[number].IsZero() {
		b.given[number] = time.Now()
	}
	b.mu.Unlock()
	return b.book.Entry(ctx, number)
}

func percentiles(all []time.Duration) string {
	slices.Sort(all)
	if len(all) == 0 {
		return "none"
	}
	at := func(p int) string {
		return fmt.Sprintf("%.1f", float64(all[min(len(all)-1, len(all)*p/100)].Microseconds())/1000)
	}
	return fmt.Sprintf("%s / %s ms of %d", at(50), at(99), len(all))
}

// TestManyTablesOnOneCore: HALL_LOAD=200 is a large event, on a hall with one core: states that
// a Wi-Fi held back for 20 s are not shown, and every ruling with its picture arrives once. It
// prints what the hall took, and what a plain HTTP server takes for the same.
func TestManyTablesOnOneCore(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes 20 s")
	}
	tables := size(t, "HALL_LOAD", 6)
	window, stall, watched := 8*time.Second, 5*time.Second, 3
	if tables > 20 {
		window, stall, watched = 26*time.Second, 20*time.Second, 12
	} else {
		t.Parallel()
	}
	p := spawn(t, true)
	w := newWifi(t, p.tables)
	var all []*played
	books := map[string]*timed{}
	var mu sync.Mutex
	var acks []time.Duration
	pad := strings.Repeat("x", 19_000)
	for n := range tables {
		name := fmt.Sprint(n + 1)
		i := p.invite(t, name)
		if n < max(1, tables/50) { // 2 % of them, which are watched
			i = w.through(i)
		}
		b := &timed{given: map[int64]time.Time{}}
		k := join(t, i, func(o *event.Options) { b.book, o.Record = o.Record.(*book), b })
		k.serve = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			s := k.hub.Newest()
			fmt.Fprintf(w, `{"seq":%d,"at_unix_ms":%d,"pad":%q}`, s.Seq, s.At.UnixMilli(), pad)
		})
		all, books[name] = append(all, k), b
	}
	eventually(t, "all are heard", func() bool {
		for n := range all {
			if !p.tile(t, fmt.Sprint(n+1)).Live {
				return false
			}
		}
		return true
	})
	var seen []func() []shown
	for n := range watched {
		seen = append(seen, p.follow(t, fmt.Sprintf("/t/%d/api/events", n+1)))
	}
	time.Sleep(time.Second)
	begun := time.Now()
	before, _ := p.used(t)
	done := make(chan struct{})
	var group sync.WaitGroup
	for n, k := range all {
		group.Go(func() { // a ruling with a picture in 15 s, each table at its own time
			wait := time.Duration(n) * 15 * time.Second / time.Duration(tables)
			for {
				select {
				case <-done:
					return
				case <-time.After(min(wait, window/2)):
				}
				e := k.book.rule(t, "of a large event", 200_000)
				for k.client.Sent() < e.Number {
					select {
					case <-done:
						return
					case <-time.After(5 * time.Millisecond):
					}
				}
				mu.Lock()
				if n >= tables/50 {
					acks = append(acks, time.Since(books[fmt.Sprint(n+1)].at(e.Number)))
				}
				mu.Unlock()
				wait = 15 * time.Second
			}
		})
	}
	time.Sleep(window / 8)
	end := w.stall()
	time.Sleep(stall)
	end()
	time.Sleep(window - time.Since(begun))
	after, peak := p.used(t)
	took := time.Since(begun)
	close(done)
	group.Wait()
	rulings := 0
	for n, k := range all {
		name := fmt.Sprint(n + 1)
		head, _, err := k.book.Head(t.Context())
		require.NoError(t, err)
		rulings += int(head)
		p.whole(t, name, k, head)
	}
	var states []time.Duration
	for _, s := range seen {
		noneOld(t, s(), 3500*time.Millisecond)
		for _, k := range s() {
			states = append(states, k.came.Sub(time.UnixMilli(k.AtMS)))
		}
	}
	cpu := after - before
	t.Logf("hall, %d tables, %d watched, %v: %.1f %% of a core, %.0f MB at most, state %s, 0 stale of %d shown, ruling %s, %d rulings, "+
		"0 lost, 0 doubled; this process woke up to %v late", tables, watched, took.Round(time.Second), 100*cpu.Seconds()/took.Seconds(), peak,
		percentiles(states), len(states), percentiles(acks), rulings, time.Duration(late.Load()).Round(time.Millisecond))
	if t.Failed() {
		t.Log("the line above does not hold")
	}
	compare(t, tables, min(window, 16*time.Second))
}

// whole waits until the hall has all rulings of a table, once, as long as more of them come.
func (r *running) whole(t testing.TB, name string, k *played, head int64) {
	t.Helper()
	before, end := int64(-1), time.Time{}
	for k.client.Sent() < head || r.tile(t, name).Rulings < int(head) {
		if sent := k.client.Sent(); sent != before {
			before, end = sent, time.Now().Add(5*time.Minute)
		}
		if time.Now().After(end) {
			t.Fatalf("table %s recorded %d rulings and sent %d; here: %v; the hall has %+v", name, head, k.client.Sent(), k.client.Here(),
				r.tile(t, name))
		}
		time.Sleep(100 * time.Millisecond)
	}
	assert.Equal(t, int(head), r.tile(t, name).Rulings)
	assert.Empty(t, r.tile(t, name).Problems)
}

func (b *timed) at(n int64) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.given[n]
}

// compare does the same to a plain HTTP server, without the states that are watched.
func compare(t *testing.T, tables int, window time.Duration) {
	t.Helper()
	p := spawn(t, false)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2 * tables}}
	post := func(path string, body []byte) {
		answer, err := client.Post(p.page+path, "application/json", bytes.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		assert.Equal(t, http.StatusOK, answer.StatusCode)
	}
	health, err := json.Marshal(map[string]string{"pad": strings.Repeat("x", 900)})
	require.NoError(t, err)
	before, _ := p.used(t)
	begun := time.Now()
	var mu sync.Mutex
	var acks []time.Duration
	var group sync.WaitGroup
	for n := range tables {
		group.Go(func() {
			for time.Since(begun) < window {
				post(fmt.Sprintf("/health/%d", n), health)
				time.Sleep(500 * time.Millisecond)
			}
		})
		group.Go(func() {
			time.Sleep(min(time.Duration(n)*15*time.Second/time.Duration(tables), window/2))
			for k := 0; time.Since(begun) < window; k++ {
				picture := jpegOf(200_000)
				from := time.Now()
				post(fmt.Sprintf("/ruling/%d/%d", n, k), picture)
				mu.Lock()
				acks = append(acks, time.Since(from))
				mu.Unlock()
				time.Sleep(min(15*time.Second, window))
			}
		})
	}
	time.Sleep(window)
	after, peak := p.used(t)
	took := time.Since(begun)
	group.Wait()
	t.Logf("plain HTTP, the same without watched states: %.1f %% of a core, %.0f MB at most, ruling %s; %d goroutines here",
		100*(after-before).Seconds()/took.Seconds(), peak, percentiles(acks), runtime.NumGoroutine())
}

// TestEveryRulingSurvivesAHallThatIsKilled: HALL_KILLS=50 kills it so often while rulings arrive.
func TestEveryRulingSurvivesAHallThatIsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes 20 s")
	}
	kills := size(t, "HALL_KILLS", 3)
	if kills < 10 {
		t.Parallel()
	}
	p := spawn(t, true)
	var all []*played
	for n := range 4 {
		all = append(all, join(t, p.invite(t, fmt.Sprint(n+1))))
	}
	done := make(chan struct{})
	var group sync.WaitGroup
	for _, k := range all {
		group.Go(func() {
			for {
				select {
				case <-done:
					return
				case <-time.After(60 * time.Millisecond):
					k.book.rule(t, "while the hall is killed", 20_000)
				}
			}
		})
	}
	for range kills {
		time.Sleep(700 * time.Millisecond)
		p.end(syscall.SIGKILL)
		p.start(t)
	}
	close(done)
	group.Wait()
	total := 0
	for n, k := range all {
		name := fmt.Sprint(n + 1)
		head, _, err := k.book.Head(t.Context())
		require.NoError(t, err)
		p.whole(t, name, k, head)
		total += int(head)
	}
	t.Logf("%d kills, %d rulings, every one is there once", kills, total)
}

// Package metrics writes figures in Prometheus' text format 0.0.4, among them those of the process
// and its machine.
package metrics

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Write writes one metric with its help and type ("counter" or "gauge").
func Write(w io.Writer, name, kind, help string, value float64) {
	Head(w, name, kind, help)
	fmt.Fprintf(w, "%s %s\n", name, figure(value))
}

// Head writes the help and the type of a metric whose values have labels.
func Head(w io.Writer, name, kind, help string) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// Labelled writes one value of a metric, with one label.
func Labelled(w io.Writer, name, label, is string, value float64) {
	fmt.Fprintf(w, "%s{%s=%s} %s\n", name, label, quoted(is), figure(value))
}

// quoted returns a label's value with the characters escaped that the format requires.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text) + `"`
}

// Bool returns 1 for true and 0 for false.
func Bool(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// figure writes a number as Prometheus reads it.
func figure(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// Build writes the program's version.
func Build(w io.Writer, version string) {
	const name = "sightline_build_info"
	Head(w, name, "gauge", "1, with the program's version and Go's.")
	fmt.Fprintf(w, "%s{version=%s,goversion=%s,goarch=%s} 1\n", name, quoted(version), quoted(runtime.Version()), quoted(runtime.GOARCH))
}

// Process writes the process's use of processor, memory and files.
func Process(w io.Writer) {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/total:bytes"}}
	metrics.Read(samples)
	value := func(i int) float64 {
		if samples[i].Value.Kind() != metrics.KindUint64 {
			return 0
		}
		return float64(samples[i].Value.Uint64())
	}
	Write(w, "go_goroutines", "gauge", "Goroutines that there are.", float64(runtime.NumGoroutine()))
	Write(w, "go_memstats_heap_alloc_bytes", "gauge", "Bytes of heap objects.", value(0))
	Write(w, "go_memstats_sys_bytes", "gauge", "Bytes that the Go runtime holds; OpenCV's are not among them.", value(1))
	if resident, ok := residentBytes("/proc/self/statm"); ok {
		Write(w, "process_resident_memory_bytes", "gauge", "Resident memory of the whole process.", resident)
	}
	if used, ok := processorTime(); ok {
		Write(w, "process_cpu_seconds_total", "counter", "Processor time that the whole process took, user and system.", used.Seconds())
	}
	Write(w, "process_start_time_seconds", "gauge", "When the program started, in Unix time.", float64(started.UnixMilli())/1000)
	Write(w, "process_uptime_seconds", "gauge", "Time since the program started.", time.Since(started).Seconds())
}

// started is the start time of the program.
var started = time.Now()

// processorTime returns the processor time of this process, by getrusage(2).
func processorTime() (time.Duration, bool) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}

// residentBytes reads Linux's /proc/self/statm.
func residentBytes(path string) (float64, bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(data))
	if len(fields) < 2 {
		return 0, false
	}
	pages, err := strconv.ParseUint(fields[1], 10, 50)
	if err != nil {
		return 0, false
	}
	return float64(pages) * float64(os.Getpagesize()), true
}

package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// processStart is when the parent began to start this program, passed as milliseconds since 1970: Go's runtime and the
// initialisers of packages, which run before main, are part of the start. Without that value it is this line.
var processStart = startedAt()

func startedAt() time.Time {
	milliseconds, err := strconv.ParseFloat(os.Getenv("BENCH_STARTED_AT"), 64)
	if err != nil {
		return time.Now()
	}
	return time.UnixMicro(int64(milliseconds * 1e3))
}

// cpu is the time this process has spent on a core so far, in user and system mode.
func cpu() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// A stopwatch takes wall and CPU time together.
type stopwatch struct {
	wall time.Time
	cpu  time.Duration
}

func startStopwatch() stopwatch {
	return stopwatch{wall: time.Now(), cpu: cpu()}
}

func (s stopwatch) read() (wall, used time.Duration) {
	return time.Since(s.wall), cpu() - s.cpu
}

// perItem is what has passed since the start, in total and divided by count.
func (s stopwatch) perItem(count int) result {
	wall, used := s.read()
	return result{
		"count":     count,
		"wallMs":    milliseconds(wall),
		"cpuMs":     milliseconds(used),
		"cpuUsEach": float64(used.Nanoseconds()) / 1e3 / float64(count),
		"perSecond": float64(count) / wall.Seconds(),
	}
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Microseconds()) / 1e3
}

// addMemory records resident memory after one garbage collection, as a running operator would have it after its next,
// and again after the runtime was made to return everything it can to the system, which is the least it could be.
func addMemory(r result) error {
	runtime.GC()
	if err := readStatus(r, "VmRSS:", "rssKb"); err != nil {
		return err
	}
	if err := readStatus(r, "VmHWM:", "peakRssKb"); err != nil {
		return err
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	r["heapKb"] = stats.HeapAlloc / 1024
	debug.FreeOSMemory()
	return readStatus(r, "VmRSS:", "rssReleasedKb")
}

func readStatus(r result, field, as string) error {
	file, err := os.Open("/proc/self/status")
	if err != nil {
		return err
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if rest, found := strings.CutPrefix(lines.Text(), field); found {
			var kilobytes int
			if _, err := fmt.Sscanf(rest, "%d kB", &kilobytes); err != nil {
				return err
			}
			r[as] = kilobytes
			return nil
		}
	}
	return fmt.Errorf("/proc/self/status has no %s", field)
}

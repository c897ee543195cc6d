// Peer does with controller-runtime what Tenure's benchmarks do with Tenure's runtime: the same work, on the same
// cluster, in the same run. Each subcommand is one process that prints one line of JSON and ends.
//
// Common to all:
//
//   - cpuMs is user plus system time of this process (getrusage), children not counted. Where a figure is per item, it
//     is the difference between two readings, so that starting up and syncing are left out.
//   - rssKb is VmRSS and peakRssKb is VmHWM of /proc/self/status.
//   - The client is not rate-limited (QPS -1), logging is off, no metrics or probe port is opened, there is no leader
//     election; everything else is controller-runtime's default. So built-in kinds travel as protobuf, the queue is the
//     priority queue, and controllers record their Prometheus metrics.
//   - Caches hold one namespace, and managedFields are stripped (cache.TransformStripManagedFields), because
//     Tenure drops them too.
//
// The comment of each function defines its measurement:
//
//	seed              seed.go       creates the ConfigMaps that the others read (not a measurement)
//	write             seed.go       modifies ConfigMaps, as the load for watch-throughput (not a measurement)
//	informer-sync     informer.go   time, CPU and memory until a cache of all ConfigMaps is synced
//	watch-throughput  informer.go   CPU per watch event
//	reconcile-noop    reconcile.go  CPU per reconcile that does nothing
//	reconcile-read    reconcile.go  CPU per reconcile that reads its object from the cache
//	apply             apply.go      CPU per server-side apply
//	queue             queue.go      add, get, done on the priority queue
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// options holds the flags of all subcommands; each reads those that concern it.
type options struct {
	kubeconfig  string
	namespace   string
	kind        string
	metadata    bool
	count       int
	rounds      int
	size        int
	concurrency int
	workers     int
	via         string
	prefix      string
	objects     int
}

type result map[string]any

var commands = map[string]func(context.Context, options) (result, error){
	"seed":             seed,
	"write":            write,
	"informer-sync":    informerSync,
	"watch-throughput": watchThroughput,
	"reconcile-noop":   reconcileNoop,
	"reconcile-read":   reconcileRead,
	"apply":            apply,
	"queue":            queue,
}

func main() {
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: peer seed|write|informer-sync|watch-throughput|reconcile-noop|reconcile-read|apply|queue [flags]")
		os.Exit(2)
	}
	name := os.Args[1]
	var o options
	flags := flag.NewFlagSet(name, flag.ExitOnError)
	flags.StringVar(&o.kubeconfig, "kubeconfig", os.Getenv("KUBECONFIG"), "the cluster to work on")
	flags.StringVar(&o.namespace, "namespace", "bench", "the namespace to work in")
	flags.StringVar(&o.kind, "kind", "configmaps", "informer-sync: what to cache (only configmaps)")
	flags.BoolVar(&o.metadata, "metadata", false, "informer-sync, watch-throughput: metadata only")
	flags.IntVar(&o.count, "count", 10_000, "how many objects, events, reconciles per round, applies or keys")
	flags.IntVar(&o.rounds, "rounds", 5, "reconcile-*, queue: measured rounds over all keys")
	flags.IntVar(&o.size, "size", 1024, "seed, write, apply: bytes of data per ConfigMap")
	flags.IntVar(&o.concurrency, "concurrency", 16, "seed, write, apply: requests at a time")
	flags.IntVar(&o.workers, "workers", 1, "reconcile-*: MaxConcurrentReconciles")
	flags.StringVar(&o.via, "via", "queue", "reconcile-*: enqueue straight into the queue, or as events of a channel source: queue|channel")
	flags.StringVar(&o.prefix, "prefix", "", "names begin with this (default: seed-, watched- or child-)")
	flags.IntVar(&o.objects, "objects", 16, "write, watch-throughput: over how many ConfigMaps the modifications are spread")
	_ = flags.Parse(os.Args[2:])

	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()

	outcome, err := commands[name](ctx, o)
	if err != nil {
		fmt.Fprintf(os.Stderr, "peer %s: %v\n", name, err)
		os.Exit(1)
	}
	outcome["peer"] = "controller-runtime"
	outcome["case"] = name
	line, err := json.Marshal(outcome)
	if err != nil {
		fmt.Fprintf(os.Stderr, "peer %s: %v\n", name, err)
		os.Exit(1)
	}
	fmt.Println(string(line))
}

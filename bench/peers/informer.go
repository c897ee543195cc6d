package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func watchedObject(o options) (client.Object, error) {
	if o.kind != "configmaps" {
		return nil, fmt.Errorf("unknown kind %q", o.kind)
	}
	if o.metadata {
		object := &metav1.PartialObjectMetadata{}
		object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
		return object, nil
	}
	return &corev1.ConfigMap{}, nil
}

// informerSync measures a cache of all ConfigMaps of the namespace, from nothing to synced.
//
// wallMs runs from the moment this process was started, Go's runtime and all initialisers included, until the informer
// says that it has synced, asked every millisecond; cpuMs is everything since then, too.
// syncWallMs and syncCpuMs begin when the manager, which is fully set up, is started. waitedWallMs is when
// WaitForCacheSync returned: that is what a controller waits for, but it looks only every 100 ms. Memory is read after
// that, with the cache full and its watch open. The objects are counted last, because listing copies them.
func informerSync(ctx context.Context, o options) (result, error) {
	object, err := watchedObject(o)
	if err != nil {
		return nil, err
	}
	mgr, err := newManager(o)
	if err != nil {
		return nil, err
	}
	// Only asks for the informer; it begins with the manager.
	informer, err := mgr.GetCache().GetInformer(ctx, object, blockUntilSynced(false))
	if err != nil {
		return nil, err
	}
	begun := startStopwatch()
	synced := make(chan result, 1)
	go func() {
		for !informer.HasSynced() && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		wall, used := begun.read()
		synced <- result{
			"metadata":   o.metadata,
			"wallMs":     milliseconds(time.Since(processStart)),
			"cpuMs":      milliseconds(cpu()),
			"syncWallMs": milliseconds(wall),
			"syncCpuMs":  milliseconds(used),
		}
	}()
	return runManager(ctx, mgr, func(ctx context.Context) (result, error) {
		outcome := <-synced
		outcome["waitedWallMs"] = milliseconds(time.Since(processStart))
		if err := addMemory(outcome); err != nil {
			return nil, err
		}
		count, err := countCached(ctx, mgr.GetClient(), o)
		outcome["count"] = count
		return outcome, err
	})
}

func countCached(ctx context.Context, reader client.Reader, o options) (int, error) {
	if o.metadata {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
		err := reader.List(ctx, list, client.InNamespace(o.namespace))
		return len(list.Items), err
	}
	list := &corev1.ConfigMapList{}
	err := reader.List(ctx, list, client.InNamespace(o.namespace))
	return len(list.Items), err
}

// watchThroughput measures what one watch event costs: decoding, the cache, and one handler that only counts.
//
// The informer syncs first. Then `peer write` runs as another process and makes --count modifications, --concurrency
// at a time, spread over --objects ConfigMaps of --size bytes; that is the load for Tenure's side, too. The figures
// run from just before the writer starts until the last event was handled. wallMs and perSecond thus say how fast the
// writer and the API server are unless events arrive faster than they are handled; cpuUsEach is the figure to compare.
func watchThroughput(ctx context.Context, o options) (result, error) {
	object, err := watchedObject(o)
	if err != nil {
		return nil, err
	}
	mgr, err := newManager(o)
	if err != nil {
		return nil, err
	}
	informer, err := mgr.GetCache().GetInformer(ctx, object, blockUntilSynced(false))
	if err != nil {
		return nil, err
	}
	var handled atomic.Int64
	done := make(chan struct{})
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, _ any) {
			if handled.Add(1) == int64(o.count) {
				close(done)
			}
		},
	})
	if err != nil {
		return nil, err
	}
	if err := prepareWatched(ctx, o); err != nil {
		return nil, err
	}
	return runManager(ctx, mgr, func(ctx context.Context) (result, error) {
		writer := exec.CommandContext(ctx, os.Args[0], "write",
			"--kubeconfig", o.kubeconfig, "--namespace", o.namespace, "--prefix", o.prefix,
			"--count", strconv.Itoa(o.count), "--objects", strconv.Itoa(o.objects),
			"--size", strconv.Itoa(o.size), "--concurrency", strconv.Itoa(o.concurrency))
		writer.Stderr = os.Stderr
		watch := startStopwatch()
		if err := writer.Run(); err != nil {
			return nil, fmt.Errorf("the writer: %w", err)
		}
		select {
		case <-done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		outcome := watch.perItem(o.count)
		outcome["metadata"] = o.metadata
		return outcome, addMemory(outcome)
	})
}

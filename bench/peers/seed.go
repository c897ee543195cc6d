package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func newClient(o options) (client.Client, error) {
	cfg, err := config(o)
	if err != nil {
		return nil, err
	}
	return client.New(cfg, client.Options{})
}

func blockUntilSynced(block bool) cache.InformerGetOption {
	return func(options *cache.InformerGetOptions) { options.BlockUntilSynced = ptr.To(block) }
}

// inParallel runs work for 0…count-1, at most width at a time, and answers the first error.
func inParallel(ctx context.Context, count, width int, work func(ctx context.Context, index int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var group sync.WaitGroup
	for range width {
		group.Go(func() {
			for index := int(next.Add(1)) - 1; index < count && ctx.Err() == nil; index = int(next.Add(1)) - 1 {
				if err := work(ctx, index); err != nil {
					cancel(err)
				}
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

func prefixOr(o options, fallback string) string {
	if o.prefix != "" {
		return o.prefix
	}
	return fallback
}

func ensureNamespace(ctx context.Context, c client.Client, name string) error {
	err := c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	return client.IgnoreAlreadyExists(err)
}

func ensureConfigMaps(ctx context.Context, c client.Client, o options, prefix string, count int) (int, error) {
	var created atomic.Int64
	err := inParallel(ctx, count, o.concurrency, func(ctx context.Context, index int) error {
		err := c.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{
				Name:      fmt.Sprintf("%s%05d", prefix, index),
				Namespace: o.namespace,
				Labels:    map[string]string{"app.kubernetes.io/part-of": "bench"},
			},
			Data: map[string]string{"payload": strings.Repeat("x", o.size)},
		})
		if err == nil {
			created.Add(1)
		}
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
	return int(created.Load()), err
}

// seed makes the namespace hold --count ConfigMaps named <prefix>00000 and so on, each with --size bytes under the key
// "payload" and one label. Those that exist stay as they are.
func seed(ctx context.Context, o options) (result, error) {
	c, err := newClient(o)
	if err != nil {
		return nil, err
	}
	if err := ensureNamespace(ctx, c, o.namespace); err != nil {
		return nil, err
	}
	watch := startStopwatch()
	created, err := ensureConfigMaps(ctx, c, o, prefixOr(o, "seed-"), o.count)
	if err != nil {
		return nil, err
	}
	outcome := watch.perItem(o.count)
	outcome["created"] = created
	return outcome, nil
}

func prepareWatched(ctx context.Context, o options) error {
	c, err := newClient(o)
	if err != nil {
		return err
	}
	if err := ensureNamespace(ctx, c, o.namespace); err != nil {
		return err
	}
	_, err = ensureConfigMaps(ctx, c, o, prefixOr(o, "watched-"), o.objects)
	return err
}

// write makes --count modifications, --concurrency at a time: merge patches that set the key "turn" to a value that it
// did not have. Every one is a write and so an event. Creates the ConfigMaps first where they are missing.
func write(ctx context.Context, o options) (result, error) {
	if err := prepareWatched(ctx, o); err != nil {
		return nil, err
	}
	c, err := newClient(o)
	if err != nil {
		return nil, err
	}
	watch := startStopwatch()
	run := watch.wall.UnixNano()
	err = inParallel(ctx, o.count, o.concurrency, func(ctx context.Context, index int) error {
		target := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Name:      fmt.Sprintf("%s%05d", prefixOr(o, "watched-"), index%o.objects),
			Namespace: o.namespace,
		}}
		patch := fmt.Sprintf(`{"data":{"turn":"%d-%d"}}`, run, index)
		return c.Patch(ctx, target, client.RawPatch(types.MergePatchType, []byte(patch)))
	})
	if err != nil {
		return nil, err
	}
	return watch.perItem(o.count), nil
}

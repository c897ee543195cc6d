package main

import (
	"context"
	"fmt"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// reconcileNoop measures what the controller itself costs around a reconciler that returns at once.
//
// A controller for ConfigMaps (--workers at a time) has a synced cache of the namespace and has reconciled each object
// once for its initial list. Then, --rounds times: the keys of the first --count objects are added to its queue one by
// one, each with default priority, and the round ends when each has been reconciled. Only the rounds are measured, all
// of them together, adding included; the first round after the initial list is a warm-up and not counted.
// With --via=channel the keys come as generic events of a channel source (buffer 1024) with EnqueueRequestForObject.
func reconcileNoop(ctx context.Context, o options) (result, error) {
	return reconcileRounds(ctx, o, false)
}

// reconcileRead is reconcileNoop with one Get of the object from the cache, which copies it, in every reconcile.
func reconcileRead(ctx context.Context, o options) (result, error) {
	return reconcileRounds(ctx, o, true)
}

func reconcileRounds(ctx context.Context, o options, read bool) (result, error) {
	mgr, err := newManager(o)
	if err != nil {
		return nil, err
	}
	reader := mgr.GetClient()
	var left atomic.Int64
	finished := make(chan error, 1)
	finish := func(err error) {
		select {
		case finished <- err:
		default:
		}
	}
	reconciler := reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		if read {
			if err := reader.Get(ctx, request.NamespacedName, &corev1.ConfigMap{}); err != nil {
				finish(err)
				return reconcile.Result{}, nil
			}
		}
		if left.Add(-1) == 0 {
			finish(nil)
		}
		return reconcile.Result{}, nil
	})
	c, err := controller.New("bench", mgr, controller.Options{Reconciler: reconciler, MaxConcurrentReconciles: o.workers})
	if err != nil {
		return nil, err
	}
	if err := c.Watch(source.Kind(mgr.GetCache(), &corev1.ConfigMap{}, &handler.TypedEnqueueRequestForObject[*corev1.ConfigMap]{})); err != nil {
		return nil, err
	}
	events := make(chan event.GenericEvent)
	channel := source.Channel(events, &handler.EnqueueRequestForObject{}, source.WithBufferSize[client.Object, reconcile.Request](1024))
	if err := c.Watch(channel); err != nil {
		return nil, err
	}
	queues := make(chan workqueue.TypedRateLimitingInterface[reconcile.Request], 1)
	if err := c.Watch(source.Func(func(_ context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		queues <- q
		return nil
	})); err != nil {
		return nil, err
	}

	total, err := countOnServer(ctx, o)
	if err != nil {
		return nil, err
	}
	if total < o.count {
		return nil, fmt.Errorf("the namespace %s holds %d ConfigMaps, fewer than --count %d: run peer seed", o.namespace, total, o.count)
	}
	// Once for each object of the initial list.
	left.Store(int64(total))
	wait := func(ctx context.Context) error {
		select {
		case err := <-finished:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return runManager(ctx, mgr, func(ctx context.Context) (result, error) {
		if err := wait(ctx); err != nil {
			return nil, err
		}
		queue := <-queues
		objects := &corev1.ConfigMapList{}
		if err := reader.List(ctx, objects, client.InNamespace(o.namespace)); err != nil {
			return nil, err
		}
		round := func() error {
			left.Store(int64(o.count))
			for index := range objects.Items[:o.count] {
				object := &objects.Items[index]
				if o.via == "channel" {
					events <- event.GenericEvent{Object: object}
				} else {
					queue.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: object.Namespace, Name: object.Name}})
				}
			}
			return wait(ctx)
		}
		if err := round(); err != nil {
			return nil, err
		}
		watch := startStopwatch()
		for range o.rounds {
			if err := round(); err != nil {
				return nil, err
			}
		}
		outcome := watch.perItem(o.count * o.rounds)
		outcome["rounds"] = o.rounds
		outcome["workers"] = o.workers
		outcome["via"] = o.via
		return outcome, addMemory(outcome)
	})
}

func countOnServer(ctx context.Context, o options) (int, error) {
	c, err := newClient(o)
	if err != nil {
		return 0, err
	}
	list := &corev1.ConfigMapList{}
	err = c.List(ctx, list, client.InNamespace(o.namespace))
	return len(list.Items), err
}

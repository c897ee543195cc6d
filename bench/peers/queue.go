package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// queue measures add, get and done on the priority queue, with no controller and no cluster. Keys are namespace/name
// requests, made beforehand.
//
// Two ways, each --rounds times over --count keys, after one round that is not counted: "batch" adds all keys and then
// gets and finishes one after the other, as after an initial list; "single" adds one key, gets it and finishes it
// before the next, as in steady state. One goroutine does it all. The figures at the top level are those of "batch".
func queue(_ context.Context, o options) (result, error) {
	keys := make([]reconcile.Request, o.count)
	for index := range keys {
		keys[index].NamespacedName = types.NamespacedName{Namespace: "bench", Name: fmt.Sprintf("seed-%05d", index)}
	}
	q := priorityqueue.New[reconcile.Request]("bench")
	defer q.ShutDown()
	take := func() {
		key, _, _ := q.GetWithPriority()
		q.Done(key)
	}
	batch := func() {
		for _, key := range keys {
			q.Add(key)
		}
		for range keys {
			take()
		}
	}
	single := func() {
		for _, key := range keys {
			q.Add(key)
			take()
		}
	}
	measured := func(round func()) result {
		round()
		watch := startStopwatch()
		for range o.rounds {
			round()
		}
		return watch.perItem(o.count * o.rounds)
	}
	outcome := measured(batch)
	outcome["single"] = measured(single)
	return outcome, addMemory(outcome)
}

package main

import (
	"context"
	"fmt"
	"strings"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const applyWarmUp = 200

// apply measures the client's side of a server-side apply: encoding, the request, and decoding the answer.
//
// --count ConfigMaps <prefix>00000 and so on are applied, --concurrency at a time, with the field manager "bench" and
// force: two labels, --size bytes under "payload", and a value under "turn" that differs in each run, so that the
// server writes every time. 200 applies of other objects go before, for connections and code to be warm, and are not
// counted. Objects are left behind, so that a second run measures changes where the first measured creations.
func apply(ctx context.Context, o options) (result, error) {
	c, err := newClient(o)
	if err != nil {
		return nil, err
	}
	if err := ensureNamespace(ctx, c, o.namespace); err != nil {
		return nil, err
	}
	prefix := prefixOr(o, "child-")
	payload := strings.Repeat("x", o.size)
	turn := fmt.Sprint(processStart.UnixNano())
	one := func(prefix string) func(context.Context, int) error {
		return func(ctx context.Context, index int) error {
			name := fmt.Sprintf("%s%05d", prefix, index)
			child := corev1ac.ConfigMap(name, o.namespace).
				WithLabels(map[string]string{"app.kubernetes.io/part-of": "bench", "app.kubernetes.io/instance": name}).
				WithData(map[string]string{"payload": payload, "turn": turn})
			return c.Apply(ctx, child, client.FieldOwner("bench"), client.ForceOwnership)
		}
	}
	if err := inParallel(ctx, applyWarmUp, o.concurrency, one(prefix+"warm-up-")); err != nil {
		return nil, err
	}
	watch := startStopwatch()
	if err := inParallel(ctx, o.count, o.concurrency, one(prefix)); err != nil {
		return nil, err
	}
	outcome := watch.perItem(o.count)
	outcome["concurrency"] = o.concurrency
	return outcome, addMemory(outcome)
}

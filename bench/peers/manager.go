package main

import (
	"context"
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

func config(o options) (*rest.Config, error) {
	cfg, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return nil, err
	}
	cfg.QPS = -1
	return cfg, nil
}

func newManager(o options) (ctrl.Manager, error) {
	cfg, err := config(o)
	if err != nil {
		return nil, err
	}
	return ctrl.NewManager(cfg, ctrl.Options{
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
		Cache: cache.Options{
			DefaultNamespaces: map[string]cache.Config{o.namespace: {}},
			DefaultTransform:  cache.TransformStripManagedFields(),
		},
	})
}

// runManager starts the manager, runs work once its caches are synced, and stops it.
func runManager(ctx context.Context, mgr ctrl.Manager, work func(context.Context) (result, error)) (result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	failed := make(chan error, 1)
	go func() { failed <- mgr.Start(ctx) }()
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		cancel()
		if err := <-failed; err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("the cache did not sync")
	}
	outcome, err := work(ctx)
	cancel()
	if stopped := <-failed; err == nil {
		err = stopped
	}
	return outcome, err
}

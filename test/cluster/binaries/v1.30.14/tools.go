//go:build tools

// Package cluster pins the programs of an older Kubernetes, so that they are built from Go modules and recorded in
// go.sum.
package cluster

import (
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
	_ "k8s.io/kubernetes/cmd/kube-scheduler"
)

//go:build tools

// Package helm pins the command that users install the chart with.
package helm

import _ "helm.sh/helm/v3/cmd/helm"

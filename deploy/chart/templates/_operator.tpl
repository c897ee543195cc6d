{{- /*
The objects of one operator. Arguments:
  root       the chart's dot
  key        the key of the operator in the values
  component  its name: part of the names of its objects
  parts      command, ports, probes, service ports, env, volumes, files
  watched    the namespace for the rules of one namespace; empty: none
*/}}
{{- define "tenure.operator" -}}
{{- $root := .root }}
{{- $values := get .root.Values .key }}
{{- $name := printf "%s-%s" (include "tenure.fullname" .root) .component }}
{{- $account := include "tenure.serviceAccountName" (dict "root" .root "component" .component "values" $values) }}
{{- $selector := include "tenure.selector" . }}
{{- $parts := .parts }}
{{- $component := .component }}
{{- $labels := printf "%s\napp.kubernetes.io/component: %s" (include "tenure.labels" .root) .component }}
{{- if $values.serviceAccount.create }}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ $account }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- $labels | nindent 4 }}
  {{- with $values.serviceAccount.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- if .root.Values.rbac.create }}
{{- $roles := list
      (dict "kind" "ClusterRole" "rules" (include (printf "tenure.rules.%s.cluster" .key) .root))
      (dict "kind" "Role" "rules" (include (printf "tenure.rules.%s.namespace" .key) .root) "namespace" .root.Release.Namespace)
}}
{{- if .watched }}
{{- $rules := include (printf "tenure.rules.%s.watched" .key) .root }}
{{- with .watchedRules }}
{{- $rules = printf "%s\n%s" $rules . }}
{{- end }}
{{- $roles = append $roles (dict "kind" "Role" "rules" $rules "namespace" .watched "suffix" "-watched") }}
{{- end }}
{{- range $role := $roles }}
{{- if trim $role.rules }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $role.kind }}
metadata:
  name: {{ $name }}{{ $role.suffix }}
  {{- with $role.namespace }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- $labels | nindent 4 }}
rules:
  {{- trim $role.rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $role.kind }}Binding
metadata:
  name: {{ $name }}{{ $role.suffix }}
  {{- with $role.namespace }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- $labels | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ $role.kind }}
  name: {{ $name }}{{ $role.suffix }}
subjects:
  - kind: ServiceAccount
    name: {{ $account }}
    namespace: {{ $root.Release.Namespace }}
{{- end }}
{{- end }}
{{- end }}
{{- with $parts.files }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ $name }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- $labels | nindent 4 }}
data:
  {{- range $file, $text := . }}
  {{ $file }}: {{ $text | toJson }}
  {{- end }}
{{- end }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- $labels | nindent 4 }}
spec:
  replicas: {{ $values.replicaCount }}
  selector:
    matchLabels:
      {{- $selector | nindent 6 }}
  template:
    metadata:
      labels:
        {{- $selector | nindent 8 }}
        {{- with $root.Values.labels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
        {{- with $values.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- if or $values.podAnnotations (get ($parts.files | default dict) "config.json") }}
      annotations:
        {{- with get ($parts.files | default dict) "config.json" }}
        # The operator reads this file only when it starts.
        checksum/config: {{ sha256sum . }}
        {{- end }}
        {{- with $values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- end }}
    spec:
      serviceAccountName: {{ $account }}
      # Longer than the operator's own shutdown grace period.
      terminationGracePeriodSeconds: 40
      {{- with $root.Values.imagePullSecrets }}
      imagePullSecrets:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $root.Values.podSecurityContext }}
      securityContext:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.priorityClassName }}
      priorityClassName: {{ . }}
      {{- end }}
      {{- with $values.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.affinity }}
      affinity:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      topologySpreadConstraints:
        {{- if $values.topologySpreadConstraints }}
        {{- toYaml $values.topologySpreadConstraints | nindent 8 }}
        {{- else }}
        {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
        - maxSkew: 1
          topologyKey: {{ . }}
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              {{- $selector | nindent 14 }}
        {{- end }}
        {{- end }}
      containers:
        - name: operator
          image: {{ include "tenure.image" $root.Values.image | quote }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          args: [{{ $parts.command }}]
          env:
            - name: POD_NAME
              valueFrom: { fieldRef: { fieldPath: metadata.name } }
            - name: LOG_LEVEL
              value: {{ $root.Values.log.level | quote }}
            - name: LOG_FORMAT
              value: {{ $root.Values.log.format | quote }}
            {{- with $parts.env }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
            {{- with include "tenure.settings" (dict "root" $root "key" .key "settings" $values.settings) | trim }}
            {{- . | nindent 12 }}
            {{- end }}
            {{- with $values.env }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          ports:
            {{- range $parts.ports }}
            - name: {{ .name }}
              containerPort: {{ .port }}
            {{- end }}
          {{- $scheme := $parts.scheme | default "HTTP" }}
          # Generous, because a first start waits for definitions and caches.
          startupProbe:
            httpGet: { path: {{ $parts.live }}, port: {{ $parts.probes }}, scheme: {{ $scheme }} }
            periodSeconds: 1
            failureThreshold: 120
          livenessProbe:
            httpGet: { path: {{ $parts.live }}, port: {{ $parts.probes }}, scheme: {{ $scheme }} }
            periodSeconds: 10
          readinessProbe:
            httpGet: { path: /readyz, port: {{ $parts.probes }}, scheme: {{ $scheme }} }
            periodSeconds: 5
          {{- with $values.resources }}
          resources:
            {{- toYaml . | nindent 12 }}
          {{- end }}
          {{- with $root.Values.securityContext }}
          securityContext:
            {{- toYaml . | nindent 12 }}
          {{- end }}
          {{- with $parts.mounts }}
          volumeMounts:
            {{- range . }}
            - { name: {{ .name }}, mountPath: {{ .path }}, readOnly: true }
            {{- end }}
          {{- end }}
      {{- with $parts.mounts }}
      volumes:
        {{- range . }}
        - name: {{ .name }}
          {{- toYaml .source | nindent 10 }}
        {{- end }}
      {{- end }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ $name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- $labels | nindent 4 }}
  {{- with $values.service.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  type: {{ $values.service.type }}
  selector:
    {{- $selector | nindent 4 }}
  ports:
    {{- range $parts.service }}
    - name: {{ .name }}
      port: {{ .port }}
      targetPort: {{ .target | default .name }}
    {{- end }}
{{- if $values.podDisruptionBudget.enabled }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- $labels | nindent 4 }}
spec:
  maxUnavailable: {{ $values.podDisruptionBudget.maxUnavailable }}
  selector:
    matchLabels:
      {{- $selector | nindent 6 }}
{{- end }}
{{- if .root.Values.networkPolicy.enabled }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ $name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- $labels | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- $selector | nindent 6 }}
  policyTypes: [Ingress{{ if .root.Values.networkPolicy.egress }}, Egress{{ end }}]
  ingress:
    {{- range $parts.ports }}
    {{- $from := list }}
    {{- if eq .use "api" }}{{ $from = $root.Values.networkPolicy.from }}{{ end }}
    {{- if eq .use "metrics" }}{{ $from = $root.Values.networkPolicy.metricsFrom }}{{ end }}
    - ports:
        - port: {{ .name }}
      {{- if $from }}
      from:
        {{- if eq .use "api" }}
        # helm test
        - podSelector:
            matchLabels:
              {{- include "tenure.selector" (dict "root" $root "component" "test") | nindent 14 }}
        {{- end }}
        {{- toYaml $from | nindent 8 }}
        {{- if and (eq .use "api") $parts.metricsOnApi }}
        {{- with $root.Values.networkPolicy.metricsFrom }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
        {{- end }}
      {{- end }}
    {{- end }}
  {{- with .root.Values.networkPolicy.egress }}
  egress:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- $monitor := .root.Values.monitoring.serviceMonitor }}
{{- if and $monitor.enabled (.root.Capabilities.APIVersions.Has "monitoring.coreos.com/v1/ServiceMonitor") }}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: {{ $name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- $labels | nindent 4 }}
    {{- with $monitor.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  selector:
    matchLabels:
      {{- $selector | nindent 6 }}
  endpoints:
    - port: metrics
      path: /metrics
      interval: {{ $monitor.interval }}
      {{- if $parts.metricsOnApi }}
      scheme: {{ lower $scheme }}
      {{- if eq $scheme "HTTPS" }}
      tlsConfig: { serverName: {{ $name }}.{{ .root.Release.Namespace }}.svc }
      {{- end }}
      {{- if $monitor.authorization }}
      authorization:
        {{- toYaml $monitor.authorization | nindent 8 }}
      {{- else }}
      bearerTokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token
      {{- end }}
      {{- end }}
{{- end }}
{{- end }}

{{- /* Objects without content: the operator fills them, needs no verb to create them, and they are removed with the
release. Then no write waits for webhooks of an operator that is gone. Arguments: root, component, name, kinds,
namespace (none: the namespace of the release, if the kind has namespaces). */}}
{{- define "tenure.filled" -}}
{{- $arguments := . }}
{{- $groups := dict "Secret" "v1" "Lease" "coordination.k8s.io/v1" }}
{{- range .kinds }}
---
apiVersion: {{ get $groups . | default "admissionregistration.k8s.io/v1" }}
kind: {{ . }}
metadata:
  name: {{ $arguments.name }}
  {{- if hasKey $groups . }}
  namespace: {{ $arguments.namespace | default $arguments.root.Release.Namespace }}
  {{- end }}
  labels:
    {{- include "tenure.labels" $arguments.root | nindent 4 }}
    app.kubernetes.io/component: {{ $arguments.component }}
{{- end }}
{{- end }}

{{- /* Roles for every namespace and a binding for each subject. */ -}}
{{- define "rule" }}
- apiGroups: {{ .groups | default (list "") | toJson }}
  resources: {{ .resources | sortAlpha | toJson }}
  verbs: {{ if .write }}{{ concat (list "get" "list" "watch") (list "create" "update" "patch" "delete") | toJson }}{{ else }}["get", "list", "watch"]{{ end }}
{{- end }}
{{- range $ns := .Values.namespaces | uniq | sortAlpha }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ $.Release.Name }}-{{ $ns | lower | replace "_" "-" }}
  namespace: {{ $ns }}
rules:
{{- range $.Values.rules }}
{{- include "rule" . | indent 0 }}
{{- end }}
{{- range $i, $s := $.Values.subjects }}
{{- if and $s.namespaces (not (has $ns $s.namespaces)) }}{{ continue }}{{ end }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ list $.Release.Name $ns $s.name | join "-" | trunc 40 | trimSuffix "-" }}
  labels: {index: {{ $i | quote }}, kind: {{ $s.kind | kebabcase }}}
subjects:
- {{ omit $s "namespaces" | toYaml | nindent 2 | trim }}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: {{ $.Release.Name }}-{{ $ns }}}
{{- end }}
{{- end }}

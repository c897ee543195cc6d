{{- define "tenure.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "tenure.labels" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | default .Chart.Version | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- with .Values.labels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* Arguments: root, component. */}}
{{- define "tenure.selector" -}}
app.kubernetes.io/name: {{ default .root.Chart.Name .root.Values.nameOverride | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "tenure.image" -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag }}{{ end }}
{{- end }}

{{- /* Arguments: root, component, values. */}}
{{- define "tenure.serviceAccountName" -}}
{{- if .values.serviceAccount.create }}
{{- default (printf "%s-%s" (include "tenure.fullname" .root) .component) .values.serviceAccount.name }}
{{- else }}
{{- default "default" .values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- /* A value as the text of an environment variable. */}}
{{- define "tenure.text" -}}
{{- if kindIs "slice" . }}{{ join "," . }}
{{- else if kindIs "float64" . }}{{ int64 . }}
{{- else }}{{ toString . }}
{{- end }}
{{- end }}

{{- /* The settings of an operator as environment variables. Arguments: root, key, settings. */}}
{{- define "tenure.settings" -}}
{{- $names := include (printf "tenure.environment.%s" .key) .root | fromJson }}
{{- range $name, $value := .settings }}
{{- if not (or (kindIs "invalid" $value) (kindIs "map" $value)) }}
{{- if not (hasKey $names $name) }}
{{- fail (printf "%s.settings.%s is not a setting of this operator that the chart passes on; docs/reference/configuration.md lists the settings" $.key $name) }}
{{- end }}
- name: {{ get $names $name }}
  value: {{ include "tenure.text" $value | quote }}
{{- end }}
{{- end }}
{{- end }}

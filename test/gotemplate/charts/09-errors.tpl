# A chart-sized template that fails deep inside.
{{- define "level1" }}{{ include "level2" (dict "v" .Values "n" 1) }}{{ end }}
{{- define "level2" }}
  {{- range $i, $x := .v.items }}
    {{- with $x }}
      {{- if eq .kind "bad" }}
        {{- include "level3" (dict "item" . "index" $i) }}
      {{- else }}
ok: {{ .name }}
      {{- end }}
    {{- end }}
  {{- end }}
{{- end }}
{{- define "level3" }}
  {{- $item := .item }}
  {{- printf "%s" $item.spec.replicas.count }}
{{- end }}
kind: List
items: {{ include "level1" . }}

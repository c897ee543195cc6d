{{- $files := dict "app.properties" .Values.properties "nested" .Values.nested }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ required "A name is required" .Values.name }}
  annotations:
    checksum: {{ $files | toYaml | sha256sum }}
data:
{{- range $name, $content := $files }}
  {{ $name }}: |-
    {{- if kindIs "map" $content }}
    {{- range $k, $v := $content }}
    {{- if kindIs "slice" $v }}
    {{ $k }}={{ join "," $v }}
    {{- else if kindIs "map" $v }}
    {{- range $k2, $v2 := $v }}
    {{ $k }}.{{ $k2 }}={{ $v2 }}
    {{- end }}
    {{- else if eq (typeOf $v) "float64" }}
    {{ $k }}={{ $v | int }}
    {{- else }}
    {{ $k }}={{ $v }}
    {{- end }}
    {{- end }}
    {{- else }}
    {{- $content | nindent 4 }}
    {{- end }}
{{- end }}
  config.toml: |
    {{- toToml .Values.nested | nindent 4 }}
  config.json: |
    {{- toPrettyJson .Values.nested | nindent 4 }}
  base64: {{ .Values.properties | b64enc }}
  lines: {{ splitList "\n" (trim .Values.properties) | len }}
  first: {{ index (splitList "=" (first (splitList "\n" .Values.properties))) 1 | squote }}

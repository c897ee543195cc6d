{{- $root := . }}
{{- $nodes := list }}
{{- range $i := until (int .Values.replicas) }}
{{- $nodes = append $nodes (printf "%s-%d.%s.%s.svc:%d" $root.Release.Name $i $root.Values.service $root.Release.Namespace (int $root.Values.port)) }}
{{- end }}
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: {{ .Release.Name }}
spec:
  replicas: {{ .Values.replicas }}
  serviceName: {{ .Values.service }}
  template:
    spec:
      containers:
      {{- range $name, $c := .Values.containers }}
      - name: {{ $name }}
        image: {{ $c.image | default $root.Values.defaultImage }}
        command: {{ $c.command | default (list "run" $name) | toJson }}
        env:
        - {name: NODES, value: {{ join "," $nodes | quote }}}
        {{- range $k, $v := merge (dict) ($c.env | default dict) $root.Values.env }}
        - name: {{ $k | snakecase | upper }}
          {{- if kindIs "map" $v }}
          valueFrom:
            {{- toYaml $v | nindent 12 }}
          {{- else }}
          value: {{ tpl ($v | toString) $root | quote }}
          {{- end }}
        {{- end }}
        {{- with $c.resources }}
        resources: {{- toYaml . | nindent 10 }}
        {{- end }}
      {{- end }}
  volumeClaimTemplates:
  {{- range $i, $v := .Values.volumes }}
  - metadata: {name: {{ printf "%s-%02d" $v.name $i }}}
    spec:
      accessModes: {{ $v.modes | default (list "ReadWriteOnce") | toJson }}
      resources: {requests: {storage: {{ $v.size | quote }}}}
      {{- if ne (toString $v.class) "-" }}
      storageClassName: {{ coalesce $v.class $root.Values.class "standard" }}
      {{- end }}
  {{- end }}

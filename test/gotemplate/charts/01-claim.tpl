apiVersion: v1
kind: Pod
metadata:
  name: {{ .Release.Name }}-pod
  labels:
    app: {{ .Values.app.name | default "browser" | quote }}
    claim: {{ .Release.Name | trunc 63 | trimSuffix "-" }}
  annotations:
    claim.controller/return: "fqdn={{ .Release.Name }}-svc.{{ .Release.Namespace }}.svc.cluster.local"
spec:
  restartPolicy: Never
  containers:
    - name: main
      image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default "latest" }}"
      imagePullPolicy: {{ .Values.image.pullPolicy | default "IfNotPresent" }}
      {{- with .Values.args }}
      args:
        {{- range . }}
        - {{ . | quote }}
        {{- end }}
      {{- end }}
      env:
        {{- range $name, $value := .Values.env }}
        - name: {{ $name | upper | replace "-" "_" }}
          value: {{ $value | toString | quote }}
        {{- end }}
      ports:
        - containerPort: {{ .Values.port | int }}
      {{- if .Values.resources }}
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      {{- end }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}-svc
  {{- if .Values.lazy }}
  annotations:
    claim.controller/lazy.provisionning: "true"
  {{- end }}
spec:
  selector:
    claim: {{ .Release.Name | trunc 63 | trimSuffix "-" }}
  ports:
    - port: {{ .Values.port | int }}
      targetPort: {{ .Values.port | int }}

{{- $ctx := dict "root" . "count" 0 }}
---
{{- $name1 := printf "%s-svc-1" .Release.Name }}
apiVersion: v1
kind: Service
metadata:
  name: {{ $name1 | trunc 63 | trimSuffix "-" }}
  labels:
    app.kubernetes.io/name: {{ .Chart.Name }}
    app.kubernetes.io/instance: {{ .Release.Name }}
    index: {{ 1 | quote }}
    {{- range $k, $v := .Values.labels }}
    {{ $k }}: {{ tpl $v $ | quote }}
    {{- end }}
spec:
  type: {{ .Values.service.type | default "ClusterIP" }}
  ports:
    {{- range $p := .Values.service.ports }}
    - name: {{ $p.name | lower }}
      port: {{ add $p.port 1 }}
      targetPort: {{ $p.target | default $p.port }}
      {{- if eq $.Values.service.type "NodePort" }}
      nodePort: {{ add 30000 (mod $p.port 1000) 1 }}
      {{- end }}
    {{- end }}
  selector: {{- toYaml (merge (dict "n" "1") .Values.selector) | nindent 4 }}
{{- $_ := set $ctx "count" (add1 $ctx.count) }}
---
{{- $name2 := printf "%s-svc-2" .Release.Name }}
apiVersion: v1
kind: Service
metadata:
  name: {{ $name2 | trunc 63 | trimSuffix "-" }}
  labels:
    app.kubernetes.io/name: {{ .Chart.Name }}
    app.kubernetes.io/instance: {{ .Release.Name }}
    index: {{ 2 | quote }}
    {{- range $k, $v := .Values.labels }}
    {{ $k }}: {{ tpl $v $ | quote }}
    {{- end }}
spec:
  type: {{ .Values.service.type | default "ClusterIP" }}
  ports:
    {{- range $p := .Values.service.ports }}
    - name: {{ $p.name | lower }}
      port: {{ add $p.port 2 }}
      targetPort: {{ $p.target | default $p.port }}
      {{- if eq $.Values.service.type "NodePort" }}
      nodePort: {{ add 30000 (mod $p.port 1000) 2 }}
      {{- end }}
    {{- end }}
  selector: {{- toYaml (merge (dict "n" "2") .Values.selector) | nindent 4 }}
{{- $_ := set $ctx "count" (add1 $ctx.count) }}
---
{{- $name3 := printf "%s-svc-3" .Release.Name }}
apiVersion: v1
kind: Service
metadata:
  name: {{ $name3 | trunc 63 | trimSuffix "-" }}
  labels:
    app.kubernetes.io/name: {{ .Chart.Name }}
    app.kubernetes.io/instance: {{ .Release.Name }}
    index: {{ 3 | quote }}
    {{- range $k, $v := .Values.labels }}
    {{ $k }}: {{ tpl $v $ | quote }}
    {{- end }}
spec:
  type: {{ .Values.service.type | default "ClusterIP" }}
  ports:
    {{- range $p := .Values.service.ports }}
    - name: {{ $p.name | lower }}
      port: {{ add $p.port 3 }}
      targetPort: {{ $p.target | default $p.port }}
      {{- if eq $.Values.service.type "NodePort" }}
      nodePort: {{ add 30000 (mod $p.port 1000) 3 }}
      {{- end }}
    {{- end }}
  selector: {{- toYaml (merge (dict "n" "3") .Values.selector) | nindent 4 }}
{{- $_ := set $ctx "count" (add1 $ctx.count) }}
---
{{- $name4 := printf "%s-svc-4" .Release.Name }}
apiVersion: v1
kind: Service
metadata:
  name: {{ $name4 | trunc 63 | trimSuffix "-" }}
  labels:
    app.kubernetes.io/name: {{ .Chart.Name }}
    app.kubernetes.io/instance: {{ .Release.Name }}
    index: {{ 4 | quote }}
    {{- range $k, $v := .Values.labels }}
    {{ $k }}: {{ tpl $v $ | quote }}
    {{- end }}
spec:
  type: {{ .Values.service.type | default "ClusterIP" }}
  ports:
    {{- range $p := .Values.service.ports }}
    - name: {{ $p.name | lower }}
      port: {{ add $p.port 4 }}
      targetPort: {{ $p.target | default $p.port }}
      {{- if eq $.Values.service.type "NodePort" }}
      nodePort: {{ add 30000 (mod $p.port 1000) 4 }}
      {{- end }}
    {{- end }}
  selector: {{- toYaml (merge (dict "n" "4") .Values.selector) | nindent 4 }}
{{- $_ := set $ctx "count" (add1 $ctx.count) }}
---
{{- $name5 := printf "%s-svc-5" .Release.Name }}
apiVersion: v1
kind: Service
metadata:
  name: {{ $name5 | trunc 63 | trimSuffix "-" }}
  labels:
    app.kubernetes.io/name: {{ .Chart.Name }}
    app.kubernetes.io/instance: {{ .Release.Name }}
    index: {{ 5 | quote }}
    {{- range $k, $v := .Values.labels }}
    {{ $k }}: {{ tpl $v $ | quote }}
    {{- end }}
spec:
  type: {{ .Values.service.type | default "ClusterIP" }}
  ports:
    {{- range $p := .Values.service.ports }}
    - name: {{ $p.name | lower }}
      port: {{ add $p.port 5 }}
      targetPort: {{ $p.target | default $p.port }}
      {{- if eq $.Values.service.type "NodePort" }}
      nodePort: {{ add 30000 (mod $p.port 1000) 5 }}
      {{- end }}
    {{- end }}
  selector: {{- toYaml (merge (dict "n" "5") .Values.selector) | nindent 4 }}
{{- $_ := set $ctx "count" (add1 $ctx.count) }}
---
{{- $name6 := printf "%s-svc-6" .Release.Name }}
apiVersion: v1
kind: Service
metadata:
  name: {{ $name6 | trunc 63 | trimSuffix "-" }}
  labels:
    app.kubernetes.io/name: {{ .Chart.Name }}
    app.kubernetes.io/instance: {{ .Release.Name }}
    index: {{ 6 | quote }}
    {{- range $k, $v := .Values.labels }}
    {{ $k }}: {{ tpl $v $ | quote }}
    {{- end }}
spec:
  type: {{ .Values.service.type | default "ClusterIP" }}
  ports:
    {{- range $p := .Values.service.ports }}
    - name: {{ $p.name | lower }}
      port: {{ add $p.port 6 }}
      targetPort: {{ $p.target | default $p.port }}
      {{- if eq $.Values.service.type "NodePort" }}
      nodePort: {{ add 30000 (mod $p.port 1000) 6 }}
      {{- end }}
    {{- end }}
  selector: {{- toYaml (merge (dict "n" "6") .Values.selector) | nindent 4 }}
{{- $_ := set $ctx "count" (add1 $ctx.count) }}
---
{{- $name7 := printf "%s-svc-7" .Release.Name }}
apiVersion: v1
kind: Service
metadata:
  name: {{ $name7 | trunc 63 | trimSuffix "-" }}
  labels:
    app.kubernetes.io/name: {{ .Chart.Name }}
    app.kubernetes.io/instance: {{ .Release.Name }}
    index: {{ 7 | quote }}
    {{- range $k, $v := .Values.labels }}
    {{ $k }}: {{ tpl $v $ | quote }}
    {{- end }}
spec:
  type: {{ .Values.service.type | default "ClusterIP" }}
  ports:
    {{- range $p := .Values.service.ports }}
    - name: {{ $p.name | lower }}
      port: {{ add $p.port 7 }}
      targetPort: {{ $p.target | default $p.port }}
      {{- if eq $.Values.service.type "NodePort" }}
      nodePort: {{ add 30000 (mod $p.port 1000) 7 }}
      {{- end }}
    {{- end }}
  selector: {{- toYaml (merge (dict "n" "7") .Values.selector) | nindent 4 }}
{{- $_ := set $ctx "count" (add1 $ctx.count) }}
---
{{- $name8 := printf "%s-svc-8" .Release.Name }}
apiVersion: v1
kind: Service
metadata:
  name: {{ $name8 | trunc 63 | trimSuffix "-" }}
  labels:
    app.kubernetes.io/name: {{ .Chart.Name }}
    app.kubernetes.io/instance: {{ .Release.Name }}
    index: {{ 8 | quote }}
    {{- range $k, $v := .Values.labels }}
    {{ $k }}: {{ tpl $v $ | quote }}
    {{- end }}
spec:
  type: {{ .Values.service.type | default "ClusterIP" }}
  ports:
    {{- range $p := .Values.service.ports }}
    - name: {{ $p.name | lower }}
      port: {{ add $p.port 8 }}
      targetPort: {{ $p.target | default $p.port }}
      {{- if eq $.Values.service.type "NodePort" }}
      nodePort: {{ add 30000 (mod $p.port 1000) 8 }}
      {{- end }}
    {{- end }}
  selector: {{- toYaml (merge (dict "n" "8") .Values.selector) | nindent 4 }}
{{- $_ := set $ctx "count" (add1 $ctx.count) }}
---
{{- $name9 := printf "%s-svc-9" .Release.Name }}
apiVersion: v1
kind: Service
metadata:
  name: {{ $name9 | trunc 63 | trimSuffix "-" }}
  labels:
    app.kubernetes.io/name: {{ .Chart.Name }}
    app.kubernetes.io/instance: {{ .Release.Name }}
    index: {{ 9 | quote }}
    {{- range $k, $v := .Values.labels }}
    {{ $k }}: {{ tpl $v $ | quote }}
    {{- end }}
spec:
  type: {{ .Values.service.type | default "ClusterIP" }}
  ports:
    {{- range $p := .Values.service.ports }}
    - name: {{ $p.name | lower }}
      port: {{ add $p.port 9 }}
      targetPort: {{ $p.target | default $p.port }}
      {{- if eq $.Values.service.type "NodePort" }}
      nodePort: {{ add 30000 (mod $p.port 1000) 9 }}
      {{- end }}
    {{- end }}
  selector: {{- toYaml (merge (dict "n" "9") .Values.selector) | nindent 4 }}
{{- $_ := set $ctx "count" (add1 $ctx.count) }}
---
{{- $name10 := printf "%s-svc-10" .Release.Name }}
apiVersion: v1
kind: Service
metadata:
  name: {{ $name10 | trunc 63 | trimSuffix "-" }}
  labels:
    app.kubernetes.io/name: {{ .Chart.Name }}
    app.kubernetes.io/instance: {{ .Release.Name }}
    index: {{ 10 | quote }}
    {{- range $k, $v := .Values.labels }}
    {{ $k }}: {{ tpl $v $ | quote }}
    {{- end }}
spec:
  type: {{ .Values.service.type | default "ClusterIP" }}
  ports:
    {{- range $p := .Values.service.ports }}
    - name: {{ $p.name | lower }}
      port: {{ add $p.port 10 }}
      targetPort: {{ $p.target | default $p.port }}
      {{- if eq $.Values.service.type "NodePort" }}
      nodePort: {{ add 30000 (mod $p.port 1000) 10 }}
      {{- end }}
    {{- end }}
  selector: {{- toYaml (merge (dict "n" "10") .Values.selector) | nindent 4 }}
{{- $_ := set $ctx "count" (add1 $ctx.count) }}
---
{{- $name11 := printf "%s-svc-11" .Release.Name }}
apiVersion: v1
kind: Service
metadata:
  name: {{ $name11 | trunc 63 | trimSuffix "-" }}
  labels:
    app.kubernetes.io/name: {{ .Chart.Name }}
    app.kubernetes.io/instance: {{ .Release.Name }}
    index: {{ 11 | quote }}
    {{- range $k, $v := .Values.labels }}
    {{ $k }}: {{ tpl $v $ | quote }}
    {{- end }}
spec:
  type: {{ .Values.service.type | default "ClusterIP" }}
  ports:
    {{- range $p := .Values.service.ports }}
    - name: {{ $p.name | lower }}
      port: {{ add $p.port 11 }}
      targetPort: {{ $p.target | default $p.port }}
      {{- if eq $.Values.service.type "NodePort" }}
      nodePort: {{ add 30000 (mod $p.port 1000) 11 }}
      {{- end }}
    {{- end }}
  selector: {{- toYaml (merge (dict "n" "11") .Values.selector) | nindent 4 }}
{{- $_ := set $ctx "count" (add1 $ctx.count) }}
---
{{- $name12 := printf "%s-svc-12" .Release.Name }}
apiVersion: v1
kind: Service
metadata:
  name: {{ $name12 | trunc 63 | trimSuffix "-" }}
  labels:
    app.kubernetes.io/name: {{ .Chart.Name }}
    app.kubernetes.io/instance: {{ .Release.Name }}
    index: {{ 12 | quote }}
    {{- range $k, $v := .Values.labels }}
    {{ $k }}: {{ tpl $v $ | quote }}
    {{- end }}
spec:
  type: {{ .Values.service.type | default "ClusterIP" }}
  ports:
    {{- range $p := .Values.service.ports }}
    - name: {{ $p.name | lower }}
      port: {{ add $p.port 12 }}
      targetPort: {{ $p.target | default $p.port }}
      {{- if eq $.Values.service.type "NodePort" }}
      nodePort: {{ add 30000 (mod $p.port 1000) 12 }}
      {{- end }}
    {{- end }}
  selector: {{- toYaml (merge (dict "n" "12") .Values.selector) | nindent 4 }}
{{- $_ := set $ctx "count" (add1 $ctx.count) }}
# {{ $ctx.count }} services

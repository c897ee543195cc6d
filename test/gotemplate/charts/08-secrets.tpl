{{- $existing := lookup "v1" "Secret" .Release.Namespace (printf "%s-creds" .Release.Name) }}
{{- $data := ($existing | default dict).data | default dict }}
apiVersion: v1
kind: Secret
metadata:
  name: {{ .Release.Name }}-creds
type: Opaque
data:
  {{- range $key := .Values.keys }}
  {{ $key }}: {{ index $data $key | default (derivePassword 1 "long" $.Values.master $key $.Release.Name | b64enc) | quote }}
  {{- end }}
stringData:
  url: {{ urlJoin (dict "scheme" "postgres" "host" (printf "%s:%v" .Values.db.host .Values.db.port) "path" .Values.db.name "userinfo" (printf "%s:%s" .Values.db.user .Values.db.password) "query" "sslmode=disable") }}
  {{- $u := urlParse .Values.url }}
  host: {{ $u.host }}
  path: {{ $u.path | base }}
  query: {{ $u.query | quote }}
  .dockerconfigjson: {{ dict "auths" (dict .Values.registry (dict "username" .Values.db.user "auth" (printf "%s:%s" .Values.db.user .Values.db.password | b64enc))) | toJson | b64enc }}
  version: {{ (semver .Values.version).Minor }}.{{ (semver .Values.version).Patch }}
  {{- $parts := splitn "." 2 .Values.version }}
  major: {{ $parts._0 }} rest {{ $parts._1 }}
  expires: {{ toDate "2006-01-02" .Values.created | dateModify "720h" | date "Mon, 02 Jan 2006" }}
  matches: {{ regexFindAll "[a-z]+" .Values.url -1 | join "|" }}

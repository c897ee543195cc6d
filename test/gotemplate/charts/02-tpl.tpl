{{ tpl .Values.resources . }}

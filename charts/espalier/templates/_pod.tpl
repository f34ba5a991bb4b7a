{{/*
The parts of a pod that all components share. The dict has: root, component.
*/}}
{{- define "espalier.podMetadata" -}}
{{- $values := .root.Values }}
{{- $configuration := include "espalier.configuration" .root -}}
labels:
  {{- include "espalier.podLabels" . | nindent 2 }}
  {{- with $values.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- if or $configuration $values.podAnnotations }}
annotations:
  {{- with $configuration }}
  # Pods read the configuration only at their start, so a change replaces them.
  espalier.dev/configuration: {{ printf "%s\n" . | sha256sum | trunc 16 | quote }}
  {{- end }}
  {{- with $values.podAnnotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- end }}

{{/* Fields of the pod besides its containers. */}}
{{- define "espalier.podSpec" -}}
{{- $values := .root.Values -}}
serviceAccountName: {{ include "espalier.name" . }}
{{- with $values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
# Running work ends within 30 s; then the process releases its leases.
terminationGracePeriodSeconds: 60
{{- with $values.podSecurityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- range . }}
  - {{- toYaml . | nindent 4 }}
    {{- if not .labelSelector }}
    labelSelector:
      matchLabels:
        {{- include "espalier.selector" $ | nindent 8 }}
    {{- end }}
  {{- end }}
{{- end }}
volumes:
  - name: tmp
    emptyDir:
      sizeLimit: {{ $values.tmpSizeLimit }}
  {{- if include "espalier.configuration" .root }}
  - name: configuration
    configMap:
      name: espalier
  {{- end }}
  {{- if $values.caBundle.configMap }}
  - name: ca-bundle
    configMap:
      name: {{ $values.caBundle.configMap }}
  {{- else if $values.caBundle.secret }}
  - name: ca-bundle
    secret:
      secretName: {{ $values.caBundle.secret }}
  {{- end }}
  {{- if eq .component "console" }}
  {{- with $values.console.tls.secret }}
  - name: console-tls
    secret:
      secretName: {{ . }}
  {{- end }}
  {{- else }}
  {{- range $values.registries.secrets }}
  - name: registry-{{ . | replace "." "-" | trunc 45 | trimSuffix "-" }}-{{ . | sha256sum | trunc 8 }}
    secret:
      secretName: {{ . }}
  {{- end }}
  {{- end }}
  {{- if and (eq .component "webhooks") (not (include "espalier.ownCertificates" .root)) }}
  - name: webhooks-tls
    secret:
      secretName: {{ include "espalier.webhooksSecret" .root }}
  {{- end }}
  {{- with $values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/* Fields of the container besides its arguments, ports, probes and resources. */}}
{{- define "espalier.container" -}}
{{- $values := .root.Values }}
{{- $ca := include "espalier.caFile" .root -}}
name: {{ include "espalier.name" . }}
image: {{ include "espalier.image" .root | quote }}
{{- with $values.image.pullPolicy }}
imagePullPolicy: {{ . }}
{{- end }}
env:
  - name: MY_POD_NAME
    valueFrom:
      fieldRef:
        fieldPath: metadata.name
  - name: MY_POD_NAMESPACE
    valueFrom:
      fieldRef:
        fieldPath: metadata.namespace
  - name: HOME
    value: /tmp
  {{- with $ca }}
  - name: NODE_EXTRA_CA_CERTS
    value: {{ . }}
  {{- end }}
  {{- range $name, $value := dict "HTTP_PROXY" $values.proxy.http "HTTPS_PROXY" $values.proxy.https "NO_PROXY" $values.proxy.noProxy }}
  {{- if $value }}
  - name: {{ $name }}
    value: {{ $value | quote }}
  {{- end }}
  {{- end }}
  {{- with $values.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with $values.securityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
volumeMounts:
  - name: tmp
    mountPath: /tmp
  {{- if include "espalier.configuration" .root }}
  - name: configuration
    mountPath: /etc/espalier
    readOnly: true
  {{- end }}
  {{- if $ca }}
  - name: ca-bundle
    mountPath: /etc/espalier-ca
    readOnly: true
  {{- end }}
  {{- if eq .component "console" }}
  {{- if $values.console.tls.secret }}
  - name: console-tls
    mountPath: {{ include "espalier.consoleTlsFolder" .root }}
    readOnly: true
  {{- end }}
  {{- else }}
  {{- range $values.registries.secrets }}
  - name: registry-{{ . | replace "." "-" | trunc 45 | trimSuffix "-" }}-{{ . | sha256sum | trunc 8 }}
    mountPath: {{ include "espalier.registriesFolder" $ }}/{{ . }}
    readOnly: true
  {{- end }}
  {{- end }}
  {{- if and (eq .component "webhooks") (not (include "espalier.ownCertificates" .root)) }}
  - name: webhooks-tls
    mountPath: {{ include "espalier.webhooksTlsFolder" .root }}
    readOnly: true
  {{- end }}
  {{- with $values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/* The resources of the console. Without a limit of the memory in the values, there is enough for all plans. */}}
{{- define "espalier.consoleResources" -}}
{{- $plans := .Values.console.plans -}}
{{- $resources := deepCopy .Values.console.resources -}}
{{- $limits := $resources.limits -}}
{{- if and $limits (hasKey $limits "memory") (empty $limits.memory) -}}
{{- $forPlans := $plans.enabled | ternary (mul $plans.max $plans.memoryMiB) 0 -}}
{{- $_ := set $limits "memory" (printf "%dMi" (add 512 $forPlans)) -}}
{{- end -}}
{{- toYaml $resources -}}
{{- end }}

{{- define "espalier.consoleTlsFolder" -}}
/etc/espalier-console-tls
{{- end }}

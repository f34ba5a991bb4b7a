{{/*
Names are fixed, because a cluster has one Espalier. Helpers with a component take a dict: root, component
(controllers, deployers, webhooks or console).
*/}}
{{- define "espalier.name" -}}
{{ eq .component "controllers" | ternary "espalier" (printf "espalier-%s" .component) }}
{{- end }}

{{/* The Deployments of controllers and deployers, as JSON; with `together`, both run in that of the controllers. */}}
{{- define "espalier.deployments" -}}
{{ eq .Values.deployments "separate" | ternary (list "controllers" "deployers") (list "controllers") | toJson }}
{{- end }}

{{/* "true" if the component runs controllers or deployers. The dict has: root, component, part (controllers or deployers). */}}
{{- define "espalier.runs" -}}
{{- if or (eq .component .part) (eq .root.Values.deployments "together") }}true{{ end }}
{{- end }}

{{/* Selector of the pods; immutable in a Deployment. */}}
{{- define "espalier.selector" -}}
app.kubernetes.io/name: espalier
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* Labels of every object and every pod. */}}
{{- define "espalier.podLabels" -}}
{{ include "espalier.selector" . }}
app.kubernetes.io/managed-by: {{ .root.Values.managedBy | default .root.Release.Service }}
{{- end }}

{{/* metadata of an object; the dict may have a name, and a namespace: empty for objects of the cluster. */}}
{{- define "espalier.metadata" -}}
name: {{ .name | default (include "espalier.name" .) }}
{{- $namespace := hasKey . "namespace" | ternary .namespace .root.Release.Namespace }}
{{- with $namespace }}
namespace: {{ . }}
{{- end }}
labels:
  {{- include "espalier.podLabels" . | nindent 2 }}
  {{- if not .root.Values.managedBy }}
  app.kubernetes.io/instance: {{ .root.Release.Name }}
  app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
  helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
  {{- end }}
{{- end }}

{{/* The image, with tag or digest. */}}
{{- define "espalier.image" -}}
{{- $image := .Values.image -}}
{{- $tag := $image.tag | default (empty $image.digest | ternary .Chart.AppVersion "") -}}
{{ $image.repository }}{{ with $tag }}:{{ . }}{{ end }}{{ with $image.digest }}@{{ . }}{{ end }}
{{- end }}

{{/* The namespace that the chart creates for pods of container items; empty if the configuration names another one. */}}
{{- define "espalier.ownPodNamespace" -}}
{{- if and (has "container" .Values.deployers) (not (dig "namespace" "" (.Values.config.container | default dict))) -}}
{{ .Release.Namespace | trunc 58 | trimSuffix "-" }}-pods
{{- end }}
{{- end }}

{{/* The namespace for pods of container items; empty without the container deployer. */}}
{{- define "espalier.podNamespace" -}}
{{- if has "container" .Values.deployers -}}
{{ dig "namespace" "" (.Values.config.container | default dict) | default (include "espalier.ownPodNamespace" .) }}
{{- end }}
{{- end }}

{{/* The namespaces with landscapes, as JSON; empty: all. */}}
{{- define "espalier.watchNamespaces" -}}
{{- $watched := .Values.config.watchNamespaces | default list }}
{{- if not (or $watched .Values.rbac.allNamespaces (not .Values.rbac.create)) }}
{{- fail "name the namespaces with landscapes in config.watchNamespaces; or set rbac.allNamespaces=true, with which Espalier can read and write the Secrets of all namespaces" }}
{{- end }}
{{- $watched | toJson }}
{{- end }}

{{/* The egress rules of all NetworkPolicies: everything but the excluded ranges, and DNS, which may be link-local. */}}
{{- define "espalier.egress" -}}
{{- $egress := .Values.networkPolicy.egress }}
{{- if $egress.rules }}
{{- toYaml $egress.rules }}
{{- else -}}
{{- $ranges := dict "0.0.0.0/0" list "::/0" list }}
{{- range $egress.except }}
{{- $family := contains ":" . | ternary "::/0" "0.0.0.0/0" }}
{{- $_ := set $ranges $family (append (get $ranges $family) .) }}
{{- end -}}
- ports:
    - protocol: UDP
      port: 53
    - protocol: TCP
      port: 53
- to:
    {{- range $cidr, $except := $ranges }}
    - ipBlock:
        cidr: {{ $cidr | quote }}
        {{- with $except }}
        except:
          {{- toYaml . | nindent 10 }}
        {{- end }}
    {{- end }}
{{- end }}
{{- end }}

{{/* "true" unless the configuration turns off the Contexts `default`. Upstream has two spellings of the key. */}}
{{- define "espalier.createsContexts" -}}
{{- $controllers := .Values.config.controllers | default dict }}
{{- $contexts := $controllers.contexts | default $controllers.context | default dict }}
{{- $config := $contexts.config | default dict }}
{{- $default := $config.default | default dict }}
{{- not $default.disable }}
{{- end }}

{{/* The namespace of the Deployments that the health check reads; empty without health check. */}}
{{- define "espalier.healthNamespace" -}}
{{ dig "deploymentsNamespace" "" (.Values.config.lsDeployments | default dict) }}
{{- end }}

{{/* Where the Secrets of registries are mounted, each in a folder of its name. */}}
{{- define "espalier.registriesFolder" -}}
/etc/espalier-registries
{{- end }}

{{/* The mounted file of the value caBundle; empty without one. */}}
{{- define "espalier.caFile" -}}
{{- with .Values.caBundle -}}
{{- if or .configMap .secret }}/etc/espalier-ca/{{ .key }}{{ end }}
{{- end }}
{{- end }}

{{/*
The LandscaperConfiguration. Pods of container items run in a namespace of their own, and their helper programs come from
the image of this release, unless the configuration says otherwise. Empty if all settings have their defaults.
*/}}
{{- define "espalier.configuration" -}}
{{- $config := deepCopy .Values.config }}
{{- if has "container" .Values.deployers }}
{{- $container := $config.container | default dict }}
{{- $_ := set $container "namespace" (include "espalier.podNamespace" .) }}
{{- range $key := list "initContainer" "waitContainer" }}
{{- $program := dict "image" (include "espalier.image" $) }}
{{- range $name, $value := get $container $key | default dict }}
{{- if not (kindIs "invalid" $value) }}
{{- $_ := set $program $name $value }}
{{- end }}
{{- end }}
{{- $_ := set $container $key $program }}
{{- end }}
{{- $_ := set $config "container" $container }}
{{- end }}
{{- $registry := $config.registry | default dict }}
{{- $ca := include "espalier.caFile" . }}
{{- if $ca }}
{{- $_ := set $registry "caFiles" (append ($registry.caFiles | default list) $ca) }}
{{- end }}
{{- with .Values.registries.secrets }}
{{- $oci := $registry.oci | default dict }}
{{- $files := $oci.configFiles | default list }}
{{- range . }}
{{- $files = append $files (printf "%s/%s/.dockerconfigjson" (include "espalier.registriesFolder" $) .) }}
{{- end }}
{{- $_ := set $oci "configFiles" $files }}
{{- $_ := set $registry "oci" $oci }}
{{- end }}
{{- if $registry }}
{{- $_ := set $config "registry" $registry }}
{{- end }}
{{- if $config }}
{{- $head := dict "apiVersion" "config.landscaper.gardener.cloud/v1alpha1" "kind" "LandscaperConfiguration" }}
{{- merge $config $head | toYaml }}
{{- end }}
{{- end }}

{{/* "true" if the pods of the webhooks create the certificates and the configuration. */}}
{{- define "espalier.ownCertificates" -}}
{{- if and .Values.webhooks.enabled (eq .Values.webhooks.certificates.source "self") }}true{{ end }}
{{- end }}

{{/* The Secret with the certificate of the webhooks, if the pods do not create it. */}}
{{- define "espalier.webhooksSecret" -}}
{{- $certificates := .Values.webhooks.certificates -}}
{{ eq $certificates.source "secret" | ternary $certificates.secret "espalier-webhooks-tls" }}
{{- end }}

{{- define "espalier.webhooksTlsFolder" -}}
/etc/espalier-webhooks-tls
{{- end }}

{{/* The PodDisruptionBudget of a component. */}}
{{- define "espalier.podDisruptionBudget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "espalier.metadata" . | nindent 2 }}
spec:
  maxUnavailable: {{ .root.Values.podDisruptionBudget.maxUnavailable }}
  selector:
    matchLabels:
      {{- include "espalier.selector" . | nindent 6 }}
{{- end }}

{{/* The binding of a role to the service account of the component. The dict has a namespace, as for metadata. */}}
{{- define "espalier.binding" -}}
{{- $isCluster := and (hasKey . "namespace") (not .namespace) -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $isCluster | ternary "ClusterRoleBinding" "RoleBinding" }}
metadata:
  {{- include "espalier.metadata" . | nindent 2 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ $isCluster | ternary "ClusterRole" "Role" }}
  name: {{ .name | default (include "espalier.name" .) }}
subjects:
  - kind: ServiceAccount
    name: {{ include "espalier.name" . }}
    namespace: {{ .root.Release.Namespace }}
{{- end }}

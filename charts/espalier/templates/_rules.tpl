{{/*
Rules for the namespaces with landscapes: in the ClusterRole, or in the Role of each watched namespace. The dict has:
root, component, isForCluster.
*/}}
{{- define "espalier.landscapeRules" -}}
{{- $controllers := include "espalier.runs" (set . "part" "controllers") }}
{{- $deployers := include "espalier.runs" (set . "part" "deployers") }}
{{- if $controllers }}
# create, change and delete the installations and deploy items of a landscape; `update` stores a field with the value null, which a merge patch would delete
- apiGroups: [landscaper.gardener.cloud]
  resources: [installations, deployitems]
  verbs: [get, list, watch, create, update, patch, delete]
# create, change and delete the executions of a landscape
- apiGroups: [landscaper.gardener.cloud]
  resources: [executions]
  verbs: [get, list, watch, create, patch, delete]
# write their status
- apiGroups: [landscaper.gardener.cloud]
  resources: [installations/status, executions/status, deployitems/status, targetsyncs/status]
  verbs: [patch]
# set installations and executions as owners with `blockOwnerDeletion`; needed if the admission plugin OwnerReferencesPermissionEnforcement is enabled
- apiGroups: [landscaper.gardener.cloud]
  resources: [installations/finalizers, executions/finalizers]
  verbs: [update]
# imports and exports; targets created by TargetSyncs
- apiGroups: [landscaper.gardener.cloud]
  resources: [dataobjects, targets]
  verbs: [get, list, watch, create, update, patch, delete]
# read Contexts; create the Context `default` in each namespace
- apiGroups: [landscaper.gardener.cloud]
  resources: [contexts]
  verbs: [get, list, watch, create, patch]
{{- else }}
# work on deploy items, and keep their finalizer; `update` stores a field with the value null, which a merge patch would delete
- apiGroups: [landscaper.gardener.cloud]
  resources: [deployitems]
  verbs: [get, list, watch, update, patch]
# write their status
- apiGroups: [landscaper.gardener.cloud]
  resources: [deployitems/status]
  verbs: [patch]
# read where and with which settings to deploy, and whether an execution still needs the item
- apiGroups: [landscaper.gardener.cloud]
  resources: [targets, contexts, executions]
  verbs: [get, list, watch]
{{- end }}
# component versions that a Context replaces
- apiGroups: [landscaper.gardener.cloud]
  resources: [componentversionoverwrites]
  verbs: [get]
{{- if $controllers }}
# targets to copy from other clusters, and the finalizer of the TargetSync
- apiGroups: [landscaper.gardener.cloud]
  resources: [targetsyncs]
  verbs: [get, list, watch, patch]
# locks held by replicas of Landscaper; stale ones are deleted
- apiGroups: [landscaper.gardener.cloud]
  resources: [syncobjects]
  verbs: [list, watch, delete]
{{- with .root.Values.config.journal }}
{{- if .enabled }}
# records of jobs; the record of a new job replaces the oldest
- apiGroups: [espalier.dev]
  resources: [jobrecords]
  verbs: [list, watch, create, update, delete]
{{- end }}
{{- end }}
{{- end }}
# credentials of targets, registries and signers; exports of deploy items; state of templates; secrets of TargetSyncs
- apiGroups: ['']
  resources: [secrets]
  verbs: [get, list, create, patch, delete]
# imports, and settings that a Context refers to
- apiGroups: ['']
  resources: [configmaps]
  verbs: [get]
{{- if and .isForCluster $controllers }}
{{- include "espalier.contextRule" .root }}
{{- end }}
# events, shown by kubectl describe
- apiGroups: ['']
  resources: [events]
  verbs: [create, patch]
{{- if and $deployers .root.Values.rbac.serviceAccountTokens (or (has "helm" .root.Values.deployers) (has "manifest" .root.Values.deployers)) }}
# tokens for targets that use a service account of this cluster
- apiGroups: ['']
  resources: [serviceaccounts/token]
  verbs: [create]
{{- end }}
{{- end }}

{{/* The only rule that needs a ClusterRole, if the configuration names the namespaces with landscapes. */}}
{{- define "espalier.contextRule" -}}
{{- if eq (include "espalier.createsContexts" .) "true" }}
# create a Context in each namespace
- apiGroups: ['']
  resources: [namespaces]
  verbs: [list, watch]
{{- end }}
{{- end }}

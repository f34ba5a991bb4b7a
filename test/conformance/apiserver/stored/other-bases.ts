/** Objects of the built-in kinds without pods, with as many fields as can be set together. */
import type { Json } from '../subject.ts';

/** A signed request of the subject `CN=x`. */
const REQUEST =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlHTE1EOENBUUF3RERFS01BZ0dBMVVFQXd3QmVEQXFNQVVHQXl0bGNBTWhBSVd2bkFDOC8rc0RmZXR6OHlROApPWUxYOGJjUlNESGdTUjNiaEdZdXEyc2tvQUF3QlFZREsyVndBMEVBUVkzNGFDcEJxOXVVdmE1U0lGNU1HaER5CkE0cEVHN2doMVgxalpFUFg5bG5rNmJZVFVZMS9LN05Cdk50eThZZU94NWs2N3lianhWZ0E2TlVUR25IOEJBPT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==';
const involved = {
  apiVersion: 'v1',
  kind: 'Pod',
  name: 'p',
  namespace: 'NAMESPACE',
  uid: 'u',
  resourceVersion: '1',
  fieldPath: 'x',
};
const rule = {
  apiGroups: ['a'],
  resources: ['b'],
  verbs: ['get'],
  resourceNames: ['c'],
};
const roleRef = (kind: string): Json => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name: 'r' });
const subjects = [
  { kind: 'User', name: 'u' },
  { kind: 'ServiceAccount', name: 's', namespace: 'n' },
];
const hookRule = { apiGroups: ['a'], apiVersions: ['v1'], resources: ['b'], operations: ['CREATE'] };
const hook = {
  name: 'a.b.c',
  clientConfig: { service: { name: 's', namespace: 'n', path: '/x' }, caBundle: '' },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
};
const fullHook = {
  ...hook,
  rules: [hookRule],
  matchConditions: [{ name: 'a', expression: 'true' }],
  objectSelector: { matchExpressions: [{ key: 'a', operator: 'Exists' }] },
};
const hooks = [{ webhooks: [hook] }, { webhooks: [fullHook] }] as const;
const now = '2024-01-01T00:00:00Z';
const micro = '2024-01-01T00:00:00.000000Z';
const claimResources = { requests: { storage: '1Gi' } };
const modes = ['ReadWriteOnce'];
const scaleTarget = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' };
const utilization = { type: 'Utilization', averageUtilization: 50 };
const property = { type: 'object', properties: { spec: { type: 'object' } } };

const eventOf = (member: string): Json => ({
  [member]: involved,
  reason: 'r',
  type: 'Normal',
  action: 'a',
});

export const otherBases: Readonly<Record<string, readonly [minimal: Json, full: Json]>> = {
  'v1/ConfigMap': [{}, { data: { a: 'b', c: '' }, binaryData: { b: 'YQ==' }, immutable: true }],
  'v1/Endpoints': [
    {},
    {
      subsets: [
        {
          addresses: [{ ip: '1.2.3.4', hostname: 'h', nodeName: 'n', targetRef: involved }],
          notReadyAddresses: [{ ip: '1.2.3.5' }],
          ports: [{ port: 80, name: 'p', appProtocol: 'x' }],
        },
      ],
    },
  ],
  'v1/Event': [
    { involvedObject: { namespace: 'NAMESPACE' } },
    {
      ...eventOf('involvedObject'),
      message: 'm',
      count: 2,
      source: { component: 'c', host: 'h' },
      firstTimestamp: now,
      lastTimestamp: now,
      eventTime: micro,
      reportingComponent: 'x.io/c',
      reportingInstance: 'i',
      series: { count: 2, lastObservedTime: micro },
      related: involved,
    },
  ],
  'v1/LimitRange': [
    { spec: { limits: [] } },
    {
      spec: {
        limits: [
          { type: 'Container', max: { cpu: '2' }, min: { cpu: '1' }, maxLimitRequestRatio: { cpu: '2' } },
          { type: 'Pod', max: { cpu: '2' } },
        ],
      },
    },
  ],
  'v1/Namespace': [{}, { spec: { finalizers: ['x.io/y'] } }],
  'v1/Node': [
    {},
    {
      spec: {
        podCIDR: '10.1.0.0/24',
        podCIDRs: ['10.1.0.0/24'],
        providerID: 'p',
        unschedulable: true,
        taints: [{ key: 'a', value: 'b', effect: 'NoSchedule', timeAdded: now }],
      },
    },
  ],
  'v1/PersistentVolume': [
    { spec: { accessModes: modes, capacity: { storage: '1Gi' }, hostPath: { path: '/x' } } },
    {
      spec: {
        accessModes: modes,
        capacity: { storage: '1Gi' },
        csi: {
          driver: 'd.io',
          volumeHandle: 'h',
          fsType: 'ext4',
          readOnly: true,
          volumeAttributes: { a: 'b' },
          nodeStageSecretRef: { name: 'a', namespace: 'b' },
        },
        claimRef: { ...involved, kind: 'PersistentVolumeClaim' },
        mountOptions: ['a'],
        nodeAffinity: {
          required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }] },
        },
        storageClassName: 's',
      },
    },
  ],
  'v1/PersistentVolumeClaim': [
    { spec: { accessModes: modes, resources: claimResources } },
    {
      spec: {
        accessModes: modes,
        resources: { ...claimResources, limits: { storage: '2Gi' } },
        selector: { matchLabels: { a: 'b' } },
        storageClassName: 's',
        volumeName: 'v',
        dataSource: { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 'a' },
      },
    },
  ],
  'v1/ResourceQuota': [
    {},
    {
      spec: {
        hard: { cpu: '1', pods: '2' },
        scopes: ['NotTerminating'],
        scopeSelector: {
          matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['a'] }],
        },
      },
    },
  ],
  'v1/Secret': [{}, { data: { a: 'Yg==', c: '' }, stringData: { d: 'e' }, type: 'x.io/y', immutable: true }],
  'v1/ServiceAccount': [
    {},
    {
      secrets: [involved],
      imagePullSecrets: [{ name: 'a' }],
      automountServiceAccountToken: false,
    },
  ],
  'v1/Service': [
    { spec: { ports: [{ port: 80 }] } },
    {
      spec: {
        type: 'LoadBalancer',
        ports: [{ name: 'a', port: 80, targetPort: 'http', appProtocol: 'x' }],
        selector: { a: 'b' },
        externalIPs: ['1.2.3.4'],
        externalTrafficPolicy: 'Cluster',
        loadBalancerIP: '1.2.3.4',
        loadBalancerSourceRanges: ['1.2.3.0/24'],
        loadBalancerClass: 'x.io/y',
        sessionAffinity: 'ClientIP',
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 10 } },
        publishNotReadyAddresses: true,
        trafficDistribution: 'PreferClose',
      },
    },
  ],
  'admissionregistration.k8s.io/v1/MutatingWebhookConfiguration': hooks,
  'admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration': hooks,
  'admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy': [
    { spec: { matchConstraints: { resourceRules: [hookRule] }, validations: [{ expression: 'true' }] } },
    {
      spec: {
        matchConstraints: {
          resourceRules: [{ ...hookRule, resourceNames: ['a'] }],
          excludeResourceRules: [hookRule],
          namespaceSelector: { matchLabels: { a: 'b' } },
        },
        matchConditions: [{ name: 'a', expression: 'true' }],
        variables: [{ name: 'a', expression: 'true' }],
        auditAnnotations: [{ key: 'a', valueExpression: "'x'" }],
        validations: [{ expression: 'true', message: 'm', reason: 'Invalid', messageExpression: "'x'" }],
        paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      },
    },
  ],
  'admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding': [
    { spec: { policyName: 'p', validationActions: ['Deny'] } },
    {
      spec: {
        policyName: 'p',
        validationActions: ['Deny', 'Audit'],
        paramRef: { name: 'a', namespace: 'n', parameterNotFoundAction: 'Deny' },
        matchResources: { resourceRules: [hookRule] },
      },
    },
  ],
  'apiextensions.k8s.io/v1/CustomResourceDefinition': [
    {
      spec: {
        group: 'stored.example.com',
        scope: 'Namespaced',
        names: { plural: 'PLURAL', kind: 'KIND' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: property } }],
      },
    },
    {
      spec: {
        group: 'stored.example.com',
        scope: 'Cluster',
        names: { plural: 'PLURAL', kind: 'KIND', shortNames: ['SHORT'], categories: ['c'] },
        conversion: {
          strategy: 'Webhook',
          webhook: {
            conversionReviewVersions: ['v1'],
            clientConfig: { service: { name: 'a', namespace: 'b', path: '/x' } },
          },
        },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            deprecated: true,
            deprecationWarning: 'w',
            additionalPrinterColumns: [
              {
                name: 'A',
                type: 'string',
                jsonPath: '.spec.a',
                description: 'd',
                format: 'byte',
                priority: 1,
              },
            ],
            selectableFields: [{ jsonPath: '.spec.a' }],
            subresources: {
              status: {},
              scale: {
                specReplicasPath: '.spec.replicas',
                statusReplicasPath: '.status.replicas',
                labelSelectorPath: '.status.selector',
              },
            },
            schema: {
              openAPIV3Schema: {
                type: 'object',
                description: 'd',
                properties: {
                  spec: {
                    type: 'object',
                    required: ['a'],
                    properties: {
                      a: {
                        type: 'string',
                        format: 'byte',
                        pattern: 'a',
                        minLength: 1,
                        maxLength: 2,
                        default: 'a',
                        enum: ['a'],
                        example: 'x',
                        title: 't',
                        nullable: true,
                      },
                      replicas: { type: 'integer', minimum: 1, exclusiveMinimum: true, multipleOf: 2 },
                      list: {
                        type: 'array',
                        'x-kubernetes-list-type': 'map',
                        'x-kubernetes-list-map-keys': ['k'],
                        items: { type: 'object', required: ['k'], properties: { k: { type: 'string' } } },
                      },
                      map: { type: 'object', additionalProperties: { type: 'string' } },
                      any: {
                        'x-kubernetes-int-or-string': true,
                        anyOf: [{ type: 'integer' }, { type: 'string' }],
                      },
                      open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                    },
                    'x-kubernetes-validations': [{ rule: 'true', message: 'm' }],
                  },
                  status: { type: 'object', default: {} },
                },
              },
            },
          },
        ],
      },
    },
  ],
  'autoscaling/v1/HorizontalPodAutoscaler': [
    { spec: { maxReplicas: 2, scaleTargetRef: scaleTarget } },
    {
      spec: {
        minReplicas: 2,
        maxReplicas: 3,
        targetCPUUtilizationPercentage: 50,
        scaleTargetRef: scaleTarget,
      },
    },
  ],
  'autoscaling/v2/HorizontalPodAutoscaler': [
    { spec: { maxReplicas: 2, scaleTargetRef: scaleTarget } },
    {
      spec: {
        minReplicas: 2,
        maxReplicas: 3,
        scaleTargetRef: scaleTarget,
        metrics: [
          { type: 'Resource', resource: { name: 'memory', target: utilization } },
          {
            type: 'Pods',
            pods: {
              metric: { name: 'm', selector: { matchLabels: { a: 'b' } } },
              target: { type: 'AverageValue', averageValue: '1' },
            },
          },
          {
            type: 'ContainerResource',
            containerResource: { name: 'cpu', container: 'c', target: utilization },
          },
        ],
        behavior: {
          scaleUp: {
            stabilizationWindowSeconds: 1,
            selectPolicy: 'Min',
            policies: [{ type: 'Pods', value: 1, periodSeconds: 1 }],
          },
          scaleDown: { policies: [{ type: 'Percent', value: 1, periodSeconds: 1 }] },
        },
      },
    },
  ],
  'coordination.k8s.io/v1/Lease': [
    {},
    {
      spec: {
        holderIdentity: 'h',
        leaseDurationSeconds: 1,
        acquireTime: micro,
        renewTime: micro,
        leaseTransitions: 1,
      },
    },
  ],
  'discovery.k8s.io/v1/EndpointSlice': [
    { addressType: 'IPv4', endpoints: [] },
    {
      addressType: 'IPv4',
      endpoints: [
        {
          addresses: ['1.2.3.4'],
          conditions: { ready: true, serving: false },
          hostname: 'h',
          nodeName: 'n',
          zone: 'z',
          targetRef: involved,
          hints: { forZones: [{ name: 'a' }] },
        },
      ],
      ports: [{ port: 80, name: 'p', appProtocol: 'x' }],
    },
  ],
  'events.k8s.io/v1/Event': [
    {
      regarding: { namespace: 'NAMESPACE' },
      eventTime: micro,
      reportingController: 'x.io/c',
      reportingInstance: 'i',
      action: 'a',
      reason: 'r',
      type: 'Normal',
    },
    {
      ...eventOf('regarding'),
      note: 'm',
      eventTime: micro,
      reportingController: 'x.io/c',
      reportingInstance: 'i',
      series: { count: 2, lastObservedTime: micro },
      related: involved,
    },
  ],
  'networking.k8s.io/v1/IngressClass': [
    {},
    {
      spec: {
        controller: 'x.io/y',
        parameters: { apiGroup: 'x.io', kind: 'X', name: 'x', scope: 'Namespace', namespace: 'n' },
      },
    },
  ],
  'networking.k8s.io/v1/Ingress': [
    { spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } } },
    {
      spec: {
        ingressClassName: 'c',
        defaultBackend: { resource: { apiGroup: 'x.io', kind: 'X', name: 'x' } },
        tls: [{ hosts: ['a.b'], secretName: 's' }],
        rules: [
          {
            host: 'a.b',
            http: {
              paths: [
                {
                  path: '/x',
                  pathType: 'Prefix',
                  backend: { service: { name: 's', port: { name: 'http' } } },
                },
              ],
            },
          },
        ],
      },
    },
  ],
  'networking.k8s.io/v1/NetworkPolicy': [
    { spec: { podSelector: {} } },
    {
      spec: {
        podSelector: { matchLabels: { a: 'b' } },
        policyTypes: ['Ingress', 'Egress'],
        ingress: [
          {
            from: [
              { ipBlock: { cidr: '1.2.3.0/24', except: ['1.2.3.4/32'] } },
              { podSelector: { matchLabels: { a: 'b' } }, namespaceSelector: {} },
            ],
            ports: [{ port: 80, endPort: 90 }],
          },
        ],
        egress: [{ to: [{ podSelector: {} }], ports: [{ port: 'http' }] }],
      },
    },
  ],
  'node.k8s.io/v1/RuntimeClass': [
    { handler: 'h' },
    {
      handler: 'h',
      overhead: { podFixed: { cpu: '1' } },
      scheduling: {
        nodeSelector: { a: 'b' },
        tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoSchedule' }],
      },
    },
  ],
  'policy/v1/PodDisruptionBudget': [
    {},
    {
      spec: {
        minAvailable: '50%',
        selector: { matchLabels: { a: 'b' } },
        unhealthyPodEvictionPolicy: 'AlwaysAllow',
      },
    },
  ],
  'rbac.authorization.k8s.io/v1/ClusterRoleBinding': [
    { roleRef: roleRef('ClusterRole') },
    { roleRef: roleRef('ClusterRole'), subjects },
  ],
  'rbac.authorization.k8s.io/v1/ClusterRole': [
    {},
    {
      rules: [rule, { nonResourceURLs: ['/x'], verbs: ['get'] }],
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { none: 'none' } }] },
    },
  ],
  'rbac.authorization.k8s.io/v1/RoleBinding': [
    { roleRef: roleRef('Role') },
    { roleRef: roleRef('ClusterRole'), subjects },
  ],
  'rbac.authorization.k8s.io/v1/Role': [{}, { rules: [rule] }],
  'scheduling.k8s.io/v1/PriorityClass': [
    { value: 1 },
    { value: 1, description: 'd', preemptionPolicy: 'Never', globalDefault: false },
  ],
  'storage.k8s.io/v1/CSIDriver': [
    { spec: {} },
    {
      spec: {
        attachRequired: false,
        fsGroupPolicy: 'File',
        podInfoOnMount: true,
        requiresRepublish: true,
        seLinuxMount: true,
        storageCapacity: true,
        tokenRequests: [{ audience: 'a', expirationSeconds: 700 }],
        volumeLifecycleModes: ['Ephemeral'],
      },
    },
  ],
  'storage.k8s.io/v1/CSINode': [
    { spec: { drivers: [] } },
    { spec: { drivers: [{ name: 'a', nodeID: 'b', topologyKeys: ['x'], allocatable: { count: 1 } }] } },
  ],
  'storage.k8s.io/v1/StorageClass': [
    { provisioner: 'p' },
    {
      provisioner: 'p',
      allowVolumeExpansion: true,
      allowedTopologies: [{ matchLabelExpressions: [{ key: 'a', values: ['b'] }] }],
      mountOptions: ['a'],
      parameters: { a: 'b' },
      reclaimPolicy: 'Retain',
      volumeBindingMode: 'WaitForFirstConsumer',
    },
  ],
  'storage.k8s.io/v1/VolumeAttachment': [
    { spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'v' } } },
    {
      spec: {
        attacher: 'a',
        nodeName: 'n',
        source: {
          inlineVolumeSpec: {
            accessModes: modes,
            capacity: { storage: '1Gi' },
            csi: { driver: 'd.io', volumeHandle: 'h' },
          },
        },
      },
    },
  ],
  'certificates.k8s.io/v1/CertificateSigningRequest': [
    { spec: { request: REQUEST, signerName: 'x.io/y', usages: ['client auth'] } },
    { spec: { request: REQUEST, signerName: 'x.io/y', usages: ['client auth'], expirationSeconds: 1000 } },
  ],
};

/** Rules of services, endpoints, ingresses and network policies. */
import { isDns1035Label, isDns1123Subdomain } from '../../../lib/names.ts';
import * as field from '../../schema/field-errors.ts';
import type { FieldError, JsonObject } from '../../types.ts';
import {
  between,
  cidr,
  each,
  ip,
  isAbsent,
  isEmpty,
  label,
  matching,
  mustBeIp,
  mustBePort,
  mustBePortOrName,
  mustBeSubdomain,
  oneOf,
  port,
  portNameProblems,
  qualifiedName,
  required,
  structOf,
  structsOf,
  subdomain,
  type MemberRule,
  type RuleTable,
  type StructRule,
  type TypeRules,
} from './vocabulary.ts';

const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];

function portErrors(service: JsonObject, path: string): FieldError[] {
  const { name, number } = structOf(service['port']);
  if (!isEmpty(name) && !isEmpty(number))
    return [field.invalid(path, '', 'cannot set both port name & port number')];
  if (!isEmpty(name))
    return portNameProblems(field.plainText(name)).map((why) =>
      field.invalid(`${path}.service.port.name`, name, why),
    );
  if (isEmpty(number)) return [field.required(path, 'port name or number is required')];
  return [...port(number, `${path}.service.port.number`, service)];
}

function backendErrors({ resource, service }: JsonObject, path: string): FieldError[] {
  if (!isAbsent(resource)) {
    const { apiGroup } = structOf(resource);
    return isAbsent(service)
      ? [
          ...['kind', 'name'].flatMap((member) =>
            required()(structOf(resource)[member], `${path}.resource.${member}`, {}),
          ),
          ...subdomain(apiGroup, `${path}.resource.apiGroup`, {}),
        ]
      : [field.invalid(path, '', 'cannot set both resource and service backends')];
  }
  if (isAbsent(service)) return [field.invalid(path, '', 'resource or service backend is required')];
  const name = field.plainText(structOf(service)['name']);
  const at = `${path}.service.name`;
  return [
    ...(name === '' ? [field.required(at)] : isDns1035Label(name).map((why) => field.invalid(at, name, why))),
    ...portErrors(structOf(service), path),
  ];
}

const UNSAFE = ['//', '/./', '/../', '%2f', '%2F'];
const UNSAFE_END = ['/..', '/.'];

const pathErrors: StructRule = ({ path: value = '', pathType }, at) => {
  const text = field.plainText(value);
  const wrong = (why: string): FieldError => field.invalid(`${at}.path`, text, why);
  if (pathType === 'ImplementationSpecific')
    return text === '' || text.startsWith('/') ? [] : [wrong('must be an absolute path')];
  if (pathType !== 'Exact' && pathType !== 'Prefix') return [];
  return [
    ...(text.startsWith('/') ? [] : [wrong('must be an absolute path')]),
    ...UNSAFE.filter((part) => text.includes(part)).map((part) => wrong(`must not contain '${part}'`)),
    ...UNSAFE_END.filter((end) => text.endsWith(end)).map((end) => wrong(`cannot end with '${end}'`)),
  ];
};

const host: MemberRule = (value, path) => {
  const text = field.plainText(value);
  return text === '' || text.startsWith('*.')
    ? []
    : isDns1123Subdomain(text).map((why) => field.invalid(path, text, why));
};

export const isDomainPath: MemberRule = matching(
  /^[a-z0-9.-]+\/[^/\s].*$/,
  'must be a domain-prefixed path (such as "acme.io/foo")',
);

const parameters: TypeRules = {
  members: {
    apiGroup: [subdomain],
    kind: [required()],
    name: [required()],
    scope: [oneOf('Cluster', 'Namespace')],
    namespace: [label],
  },
  together: [
    ({ scope, namespace }, path) => {
      const at = `${path}.namespace`;
      if (scope === 'Namespace' && isAbsent(namespace))
        return [field.required(at, "`parameters.scope` is set to 'Namespace'")];
      return scope === 'Cluster' && !isAbsent(namespace)
        ? [field.forbidden(at, "`parameters.scope` is set to 'Cluster'")]
        : [];
    },
  ],
};

function endPortErrors({ port: first, endPort }: JsonObject, path: string): FieldError[] {
  if (isAbsent(endPort)) return [];
  const wrong = (why: string): FieldError[] => [field.invalid(`${path}.endPort`, endPort, why)];
  if (isAbsent(first)) return wrong('may not be specified when `port` is not specified');
  if (typeof first === 'string') return wrong('may not be specified when `port` is non-numeric');
  // Upstream shows the first port here.
  return Number(endPort) < Number(first)
    ? [field.invalid(`${path}.endPort`, first, 'must be greater than or equal to `port`')]
    : [];
}

const peerErrors: StructRule = ({ ipBlock, podSelector, namespaceSelector }, path) => {
  const hasSelector = !isAbsent(podSelector) || !isAbsent(namespaceSelector);
  if (isAbsent(ipBlock)) return hasSelector ? [] : [field.required(path, 'must specify a peer')];
  return hasSelector ? [field.forbidden(path, 'may not specify both ipBlock and another peer')] : [];
};

const sourceRanges: MemberRule = (value, path, { type }) => {
  const at = path.replace('load', 'Load');
  if (isEmpty(value)) return [];
  return [
    ...(type === 'LoadBalancer'
      ? []
      : [field.forbidden(at, "may only be used when `type` is 'LoadBalancer'")]),
    ...each(cidr)(value, at, {}),
  ];
};

const healthPort: MemberRule = (value, path, { type, externalTrafficPolicy }) =>
  isEmpty(value) || (type === 'LoadBalancer' && externalTrafficPolicy === 'Local')
    ? []
    : [
        field.invalid(
          path,
          value,
          "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
        ),
      ];

const nodePort: MemberRule = (value, path, owner) =>
  isEmpty(value)
    ? []
    : between(
        30_000,
        32_767,
        'provided port is not in the valid range. The range of valid ports is 30000-32767',
      )(value, path, owner);

/** Of services that are reached from outside of the cluster. */
const exposedErrors: StructRule = (spec, path) => {
  if (!['LoadBalancer', 'NodePort'].includes(field.plainText(spec['type']))) return [];
  return [
    ...oneOf('Cluster', 'Local')(spec['externalTrafficPolicy'], `${path}.externalTrafficPolicy`, spec),
    ...structsOf(spec['ports']).flatMap((each, i) =>
      nodePort(each['nodePort'], `${path}.ports[${String(i)}].nodePort`, each),
    ),
  ];
};

/** A headless service has no address, and may say so. */
const addresses: MemberRule = (value, path, owner) =>
  each((address, at) => (address === 'None' || address === '' ? [] : ip(address, at, owner)))(
    value,
    path,
    owner,
  );

/** Upstream checks these addresses twice. */
const plainIp: MemberRule = (value, path, owner) =>
  mustBeIp(value, path, owner).length > 0
    ? [field.invalid(path, value ?? '', 'must be a valid IP address')]
    : [];

const endpointPort: TypeRules = {
  members: { protocol: [oneOf(...PROTOCOLS)], appProtocol: [qualifiedName] },
};

export const networkRules: RuleTable = {
  'core.v1.ServiceSpec': {
    members: {
      clusterIPs: [addresses],
      externalIPs: [each(ip)],
      healthCheckNodePort: [healthPort],
      internalTrafficPolicy: [oneOf('Cluster', 'Local')],
      ipFamilies: [each(oneOf('IPv4', 'IPv6'))],
      ipFamilyPolicy: [oneOf('PreferDualStack', 'RequireDualStack', 'SingleStack')],
      loadBalancerClass: [
        (value, path, owner) => (owner['type'] === 'LoadBalancer' ? qualifiedName(value, path, owner) : []),
      ],
      loadBalancerSourceRanges: [sourceRanges],
      sessionAffinity: [oneOf('ClientIP', 'None')],
      trafficDistribution: [oneOf('PreferClose', 'PreferSameZone', 'PreferSameNode')],
    },
    together: [exposedErrors],
  },
  'core.v1.ServicePort': {
    members: {
      name: [label],
      protocol: [oneOf(...PROTOCOLS)],
      appProtocol: [qualifiedName],
    },
  },
  'core.v1.ClientIPConfig': {
    members: { timeoutSeconds: [between(1, 86_400, 'must be greater than 0 and less than 86400')] },
  },
  'core.v1.EndpointSubset': {
    together: [
      ({ addresses: ready, notReadyAddresses }, path) =>
        isEmpty(ready) && isEmpty(notReadyAddresses)
          ? [field.required(path, 'must specify `addresses` or `notReadyAddresses`')]
          : [],
    ],
  },
  'core.v1.EndpointAddress': {
    members: { ip: [mustBeIp, plainIp], nodeName: [subdomain], hostname: [label] },
  },
  'core.v1.EndpointPort': {
    members: { ...endpointPort.members, name: [label], port: [mustBePort] },
  },
  'discovery.v1.EndpointSlice': { members: { addressType: [required()] } },
  'discovery.v1.Endpoint': {
    members: {
      addresses: [required('must contain at least 1 address')],
      hostname: [label],
      nodeName: [subdomain],
    },
  },
  'discovery.v1.EndpointPort': endpointPort,
  'discovery.v1.ForNode': { members: { name: [mustBeSubdomain] } },
  'networking.v1.IngressSpec': { members: { ingressClassName: [subdomain] } },
  'networking.v1.IngressBackend': { together: [backendErrors], unchecked: ['resource'] },
  'networking.v1.IngressRule': { members: { host: [host] } },
  'networking.v1.HTTPIngressRuleValue': { members: { paths: [required()] } },
  'networking.v1.HTTPIngressPath': {
    members: {
      pathType: [
        (value, path, owner) =>
          isAbsent(value)
            ? [field.required(path, 'pathType must be specified')]
            : oneOf('Exact', 'ImplementationSpecific', 'Prefix')(value, path, owner),
      ],
    },
    together: [pathErrors],
  },
  'networking.v1.IngressClassSpec': {
    members: {
      controller: [
        (value, path, owner) => (isEmpty(value) ? [field.required(path)] : isDomainPath(value, path, owner)),
      ],
    },
  },
  'networking.v1.IngressClassParametersReference': parameters,
  'core.v1.TypedLocalObjectReference': { members: { kind: [required()], name: [required()] } },
  'core.v1.TypedObjectReference': { members: { kind: [required()], name: [required()] } },
  'networking.v1.NetworkPolicySpec': {
    members: { policyTypes: [each(oneOf('Ingress', 'Egress'))] },
  },
  'networking.v1.NetworkPolicyPort': {
    members: {
      protocol: [oneOf('TCP', 'UDP', 'SCTP')],
      port: [(value, path, owner) => (isAbsent(value) ? [] : mustBePortOrName(value, path, owner))],
    },
    together: [endPortErrors],
  },
  'networking.v1.NetworkPolicyPeer': { together: [peerErrors] },
  'networking.v1.IPBlock': { members: { cidr: [required(), (v, p, o) => (v === '' ? [] : cidr(v, p, o))] } },
};

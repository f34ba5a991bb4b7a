/** Services: defaults, cluster IPs, node ports. */
import { append } from '../../../lib/lists.ts';
import * as field from '../../schema/field-errors.ts';
import type { Strategy, StrategyContext } from '../kinds.ts';
import { equalJson, isObject } from '../../types.ts';
import type { FieldError, JsonObject, KubeObject } from '../../types.ts';
import { fill, listOf, objectAt } from './pod-spec.ts';

const FIRST_NODE_PORT = 30_000;
const NODE_PORTS = 2768;
const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];

const typeOf = (spec: JsonObject | undefined): string => field.plainText(spec?.['type'] ?? '');
const needsAddress = (spec: JsonObject | undefined): boolean =>
  ['ClusterIP', 'LoadBalancer', 'NodePort'].includes(typeOf(spec));
const isOnNodes = (spec: JsonObject | undefined): boolean =>
  ['LoadBalancer', 'NodePort'].includes(typeOf(spec));
const needsNodePorts = (spec: JsonObject | undefined): boolean =>
  isOnNodes(spec) && (typeOf(spec) === 'NodePort' || spec?.['allocateLoadBalancerNodePorts'] !== false);
const isExternal = (spec: JsonObject | undefined): boolean =>
  isOnNodes(spec) || (needsAddress(spec) && lengthOf(spec?.['externalIPs']) > 0);
const needsHealthPort = (spec: JsonObject | undefined): boolean =>
  typeOf(spec) === 'LoadBalancer' && spec?.['externalTrafficPolicy'] === 'Local';
const lengthOf = (value: unknown): number => (Array.isArray(value) ? value.length : 0);

export const service: Strategy = {
  defaults(object) {
    const spec = objectAt(object, 'spec');
    fill(spec, { type: 'ClusterIP', sessionAffinity: 'None' });
    for (const port of listOf(spec, 'ports')) {
      fill(port, { protocol: 'TCP' });
      fill(port, { targetPort: port['port'] });
    }
    if (spec['sessionAffinity'] === 'ClientIP')
      fill(objectAt(objectAt(spec, 'sessionAffinityConfig'), 'clientIP'), { timeoutSeconds: 10_800 });
    else if (spec['sessionAffinity'] === 'None') delete spec['sessionAffinityConfig'];
    if (needsAddress(spec)) fill(spec, { internalTrafficPolicy: 'Cluster' });
    if (isExternal(spec)) fill(spec, { externalTrafficPolicy: 'Cluster' });
    if (typeOf(spec) === 'LoadBalancer') fill(spec, { allocateLoadBalancerNodePorts: true });
  },
  prepareForCreate(object, context) {
    object['status'] = { loadBalancer: {} };
    allocate(object, context);
  },
  prepareForUpdate(object, old, context) {
    const spec = objectAt(object, 'spec');
    const before = old['spec'] as JsonObject;
    keepAllocated(spec, before);
    dropUnneeded(spec, before);
    allocate(object, context);
  },
  validate(object) {
    const spec = objectAt(object, 'spec');
    const errors: FieldError[] = [];
    const type = typeOf(spec);
    const ports = listOf(spec, 'ports');
    if (ports.length === 0 && type !== 'ExternalName' && spec['clusterIP'] !== 'None')
      errors.push(field.required('spec.ports'));
    if (type === 'ExternalName' && !spec['externalName']) errors.push(field.required('spec.externalName'));
    append(errors, portErrors(ports));
    if (!TYPES.includes(type)) errors.push(field.notSupported('spec.type', type, TYPES));
    append(errors, unneededErrors(spec));
    append(errors, addressErrors(spec));
    return errors;
  },
  validateUpdate(object, old) {
    const spec = objectAt(object, 'spec');
    const before = old['spec'] as JsonObject;
    const errors: FieldError[] = [];
    if (typeOf(spec) === 'LoadBalancer' && typeOf(before) === 'LoadBalancer') {
      const { loadBalancerClass: name } = spec;
      if (name !== before['loadBalancerClass'])
        errors.push(field.invalid('spec.loadBalancerClass', name ?? null, 'may not change once set'));
    }
    if (!needsAddress(spec) || !needsAddress(before)) return errors;
    if (before['clusterIP'] && spec['clusterIP'] !== before['clusterIP'])
      errors.push(field.invalid('spec.clusterIPs[0]', [spec['clusterIP']], 'may not change once set'));
    return errors;
  },
};

/** Services without selector and address are the only ones that may have addresses of both families. */
function addressErrors(spec: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  const isHeadless = spec['clusterIP'] === 'None';
  if (isHeadless && isOnNodes(spec))
    errors.push(
      field.invalid('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${typeOf(spec)} services`),
    );
  if (spec['ipFamilyPolicy'] === 'RequireDualStack' && needsAddress(spec) && !isOpen(spec))
    errors.push(
      field.invalid(
        'spec.ipFamilyPolicy',
        'RequireDualStack',
        'this cluster is not configured for dual-stack services',
      ),
    );
  return errors;
}

const isOpen = (spec: JsonObject): boolean =>
  spec['clusterIP'] === 'None' &&
  Object.keys(isObject(spec['selector']) ? spec['selector'] : {}).length === 0;

/** What the server has allocated stays although the writer does not know it. */
function keepAllocated(spec: JsonObject, before: JsonObject): void {
  if (needsAddress(spec) && needsAddress(before)) {
    fill(spec, pick(before, ['clusterIP']));
    if (spec['clusterIP'] === before['clusterIP']) fill(spec, pick(before, ['clusterIPs']));
    fill(spec, pick(before, ['ipFamilies', 'ipFamilyPolicy']));
  }
  if (needsNodePorts(spec) && needsNodePorts(before)) {
    const old = listOf(before, 'ports');
    for (const port of listOf(spec, 'ports')) {
      const same = old.find((b) => b['port'] === port['port'] && b['protocol'] === port['protocol']);
      if (same) fill(port, pick(same, ['nodePort']));
    }
  }
  if (needsHealthPort(spec) && needsHealthPort(before)) fill(spec, pick(before, ['healthCheckNodePort']));
}

const pick = (object: JsonObject, members: readonly string[]): JsonObject =>
  Object.fromEntries(
    members.flatMap((member) => (object[member] === undefined ? [] : [[member, object[member]]])),
  );

/** Members of a type that the service had and no longer has; those that the writer changed stay, and are refused. */
function dropUnneeded(spec: JsonObject, before: JsonObject): void {
  const drop = (isNeeded: (spec: JsonObject) => boolean, members: readonly string[]): void => {
    if (!isNeeded(before) || isNeeded(spec)) return;
    for (const member of members) if (equalJson(spec[member], before[member])) delete spec[member];
  };
  const isBalanced = (each: JsonObject): boolean => typeOf(each) === 'LoadBalancer';
  drop(needsAddress, ['clusterIP', 'clusterIPs', 'internalTrafficPolicy', 'ipFamilies', 'ipFamilyPolicy']);
  drop(isBalanced, ['allocateLoadBalancerNodePorts', 'loadBalancerClass']);
  drop(needsHealthPort, ['healthCheckNodePort']);
  drop(isExternal, ['externalTrafficPolicy']);
  if (isOnNodes(spec) || !isOnNodes(before)) return;
  const [ports, old] = [listOf(spec, 'ports'), listOf(before, 'ports')];
  const numbers = (list: readonly JsonObject[]): unknown[] => list.map(({ nodePort }) => nodePort ?? 0);
  if (equalJson(numbers(ports), numbers(old))) for (const port of ports) delete port['nodePort'];
}

/** Members that belong to other types of services. */
function unneededErrors(spec: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  const forbid = (path: string, value: unknown, message: string): void => {
    if (value !== undefined && value !== 0) errors.push(field.forbidden(path, message));
  };
  const isBalanced = typeOf(spec) === 'LoadBalancer';
  if (!isOnNodes(spec))
    listOf(spec, 'ports').forEach(({ nodePort }, i) => {
      forbid(`spec.ports[${i}].nodePort`, nodePort, `may not be used when \`type\` is '${typeOf(spec)}'`);
    });
  if (typeOf(spec) === 'ExternalName')
    for (const member of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'])
      forbid(`spec.${member}`, spec[member], "may not be set when type is 'ExternalName'");
  if (!isBalanced)
    for (const member of ['allocateLoadBalancerNodePorts', 'loadBalancerClass'])
      forbid(`spec.${member}`, spec[member], "may only be used when `type` is 'LoadBalancer'");
  if (!isExternal(spec) && spec['externalTrafficPolicy'] !== undefined)
    errors.push(
      field.invalid(
        'spec.externalTrafficPolicy',
        spec['externalTrafficPolicy'],
        'may only be set for externally-accessible services',
      ),
    );
  return errors;
}

const PORT_RULE = 'must be between 1 and 65535, inclusive';

function portErrors(ports: readonly JsonObject[]): FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<unknown>();
  const numbers = new Set<string>();
  ports.forEach((port, i) => {
    const at = `spec.ports[${i}]`;
    const { name, port: number } = port;
    if (ports.length > 1 && !name) errors.push(field.required(`${at}.name`));
    if (name !== undefined && names.has(name)) errors.push(field.duplicate(`${at}.name`, name));
    names.add(name);
    if (typeof number !== 'number' || number < 1 || number > 65535)
      errors.push(field.invalid(`${at}.port`, number ?? 0, PORT_RULE));
    const target = port['targetPort'] ?? 0;
    if (typeof target === 'number' && (target < 1 || target > 65535))
      errors.push(field.invalid(`${at}.targetPort`, target, PORT_RULE));
    const identity = `${String(port['protocol'])}/${String(number)}`;
    if (numbers.has(identity)) errors.push(field.duplicate(at, { port: number, protocol: port['protocol'] }));
    numbers.add(identity);
  });
  return errors;
}

function allocate(object: KubeObject, context: StrategyContext): void {
  const spec = objectAt(object, 'spec');
  if (!needsAddress(spec)) return;
  // Without a selector, endpoints of both families may be added to it.
  fill(
    spec,
    isOpen(spec)
      ? { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' }
      : { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' },
  );
  const given = Array.isArray(spec['clusterIPs']) ? (spec['clusterIPs'] as unknown[])[0] : undefined;
  if (!spec['clusterIP']) spec['clusterIP'] = given ?? freeAddress(context);
  spec['clusterIPs'] = [spec['clusterIP']];
  if (!isOnNodes(spec)) return;
  const taken = takenPorts(context);
  const allocated = (): number => {
    const port = freePort(taken, context);
    taken.add(port);
    return port;
  };
  if (needsNodePorts(spec))
    for (const port of listOf(spec, 'ports')) if (!port['nodePort']) port['nodePort'] = allocated();
  if (needsHealthPort(spec) && !spec['healthCheckNodePort']) spec['healthCheckNodePort'] = allocated();
}

/** Free addresses of 10.0.0.0/24; the first belongs to the API server. */
function freeAddress(context: StrategyContext): string {
  const taken = new Set<unknown>();
  for (const other of context.all('/services')) taken.add((other['spec'] as JsonObject)['clusterIP']);
  const start = Math.floor(context.random() * 253);
  for (let i = 0; i < 253; i++) {
    const address = `10.0.0.${2 + ((start + i) % 253)}`;
    if (!taken.has(address)) return address;
  }
  return '10.0.1.1';
}

function takenPorts(context: StrategyContext): Set<unknown> {
  const taken = new Set<unknown>();
  for (const other of context.all('/services'))
    for (const port of listOf(other['spec'] as JsonObject, 'ports')) taken.add(port['nodePort']);
  return taken;
}

function freePort(taken: ReadonlySet<unknown>, context: StrategyContext): number {
  const start = Math.floor(context.random() * NODE_PORTS);
  for (let i = 0; i < NODE_PORTS; i++) {
    const port = FIRST_NODE_PORT + ((start + i) % NODE_PORTS);
    if (!taken.has(port)) return port;
  }
  return FIRST_NODE_PORT;
}

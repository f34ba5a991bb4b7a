/** Services: defaults, cluster IPs, node ports. */
import { append } from '../../../lib/lists.ts';
import * as field from '../../schema/field-errors.ts';
import type { Strategy, StrategyContext } from '../kinds.ts';
import { isObject } from '../../types.ts';
import type { FieldError, JsonObject, KubeObject } from '../../types.ts';
import { fill, listOf, objectAt } from './pod-spec.ts';

const FIRST_NODE_PORT = 30_000;
const NODE_PORTS = 2768;
const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];

export const service: Strategy = {
  defaults(object) {
    const spec = objectAt(object, 'spec');
    fill(spec, { type: 'ClusterIP', sessionAffinity: 'None' });
    for (const port of listOf(spec, 'ports')) {
      fill(port, { protocol: 'TCP' });
      fill(port, { targetPort: port['port'] });
    }
    const type = spec['type'];
    if (type === 'ExternalName') return;
    fill(spec, { internalTrafficPolicy: 'Cluster' });
    if (type !== 'ClusterIP') fill(spec, { externalTrafficPolicy: 'Cluster' });
    if (type === 'LoadBalancer') fill(spec, { allocateLoadBalancerNodePorts: true });
    if (isObject(spec['sessionAffinityConfig']) || spec['sessionAffinity'] !== 'ClientIP') return;
    spec['sessionAffinityConfig'] = { clientIP: { timeoutSeconds: 10_800 } };
  },
  prepareForCreate(object, context) {
    object['status'] = { loadBalancer: {} };
    allocate(object, undefined, context);
  },
  prepareForUpdate(object, old, context) {
    const spec = objectAt(object, 'spec');
    const before = old['spec'] as JsonObject;
    if (spec['type'] !== 'ExternalName' && before['type'] !== 'ExternalName')
      for (const member of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'])
        if (spec[member] === undefined || spec[member] === '') spec[member] = before[member];
    allocate(object, old, context);
  },
  validate(object) {
    const spec = objectAt(object, 'spec');
    const errors: FieldError[] = [];
    const type = String(spec['type']);
    const ports = listOf(spec, 'ports');
    if (ports.length === 0 && type !== 'ExternalName' && spec['clusterIP'] !== 'None')
      errors.push(field.required('spec.ports'));
    if (type === 'ExternalName' && !spec['externalName']) errors.push(field.required('spec.externalName'));
    append(errors, portErrors(ports));
    if (!TYPES.includes(type)) errors.push(field.notSupported('spec.type', type, TYPES));
    return errors;
  },
  validateUpdate(object, old) {
    const spec = objectAt(object, 'spec');
    const before = old['spec'] as JsonObject;
    if (spec['type'] === 'ExternalName' || before['type'] === 'ExternalName') return [];
    if (!before['clusterIP'] || spec['clusterIP'] === before['clusterIP']) return [];
    return [field.invalid('spec.clusterIPs[0]', [spec['clusterIP']], 'may not change once set')];
  },
};

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

function allocate(object: KubeObject, old: KubeObject | undefined, context: StrategyContext): void {
  const spec = objectAt(object, 'spec');
  if (spec['type'] === 'ExternalName') {
    for (const member of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy']) delete spec[member];
    return;
  }
  fill(spec, { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' });
  const given = Array.isArray(spec['clusterIPs']) ? (spec['clusterIPs'] as unknown[])[0] : undefined;
  if (!spec['clusterIP']) spec['clusterIP'] = given ?? freeAddress(context);
  spec['clusterIPs'] = [spec['clusterIP']];
  if (spec['type'] === 'ClusterIP') {
    for (const port of listOf(spec, 'ports')) delete port['nodePort'];
    return;
  }
  const before = listOf(old?.['spec'] as JsonObject | undefined, 'ports');
  const taken = takenPorts(context);
  for (const port of listOf(spec, 'ports')) {
    if (typeof port['nodePort'] === 'number' && port['nodePort'] !== 0) continue;
    const same = before.find((b) => b['port'] === port['port'] && b['protocol'] === port['protocol']);
    port['nodePort'] = same?.['nodePort'] ?? freePort(taken, context);
    taken.add(port['nodePort']);
  }
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

/** Table cells of endpoints, slices, ingresses and their classes. */
import { at, listAt, numberAt, orNone, textAt, type PrinterRows } from './cells.ts';
import type { JsonObject } from '../types.ts';

const SHOWN = 3;

/** The first few values, and the number of the others. */
function fewOf(texts: readonly string[], none: string, most = SHOWN): string {
  if (texts.length === 0) return none;
  const more = texts.length > most ? ` + ${texts.length - most} more...` : '';
  return `${texts.slice(0, most).join(',')}${more}`;
}

const withPort = (ip: string, port: number): string =>
  ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;

function subsetAddresses(subset: JsonObject): string[] {
  const ips = listAt(subset, 'addresses').map((address) => textAt(address, 'ip'));
  const ports = listAt(subset, 'ports');
  return ports.length === 0
    ? ips
    : ports.flatMap((port) => ips.map((ip) => withPort(ip, numberAt(port, 'port'))));
}

/** Every address and host name of the load balancer. */
const balancerText = (object: unknown): string =>
  [
    ...new Set(
      listAt(object, 'status', 'loadBalancer', 'ingress').map(
        (i) => textAt(i, 'ip') || textAt(i, 'hostname'),
      ),
    ),
  ]
    .filter((text) => text !== '')
    .sort()
    .join(',');

function parameters(object: unknown): string {
  const { kind, apiGroup, name } = (at(object, 'spec', 'parameters') ?? {}) as Record<string, string>;
  if (kind === undefined) return '<none>';
  return `${kind}${apiGroup === undefined ? '' : `.${apiGroup}`}/${name ?? ''}`;
}

export const networkPrinters: PrinterRows = {
  Endpoints: [
    ['Name', 'Endpoints', 'Age'],
    (object, age) => [
      object.metadata.name,
      fewOf(listAt(object, 'subsets').flatMap(subsetAddresses), '<none>'),
      age(),
    ],
  ],
  'discovery.k8s.io/EndpointSlice': [
    ['Name', 'AddressType', 'Ports', 'Endpoints', 'Age'],
    (object, age) => [
      object.metadata.name,
      textAt(object, 'addressType'),
      fewOf(
        listAt(object, 'ports').map((port) => textAt(port, 'port') || textAt(port, 'name') || '*'),
        '<unset>',
      ),
      fewOf(
        listAt(object, 'endpoints').flatMap((endpoint) => (endpoint['addresses'] ?? []) as string[]),
        '<unset>',
      ),
      age(),
    ],
  ],
  'networking.k8s.io/IngressClass': [
    ['Name', 'Controller', 'Parameters', 'Age'],
    (object, age) => [object.metadata.name, textAt(object, 'spec', 'controller'), parameters(object), age()],
  ],
  'networking.k8s.io/Ingress': [
    ['Name', 'Class', 'Hosts', 'Address', 'Ports', 'Age'],
    (object, age) => [
      object.metadata.name,
      orNone(textAt(object, 'spec', 'ingressClassName')),
      fewOf(
        listAt(object, 'spec', 'rules')
          .map((rule) => textAt(rule, 'host'))
          .filter((host) => host !== ''),
        '*',
      ),
      balancerText(object),
      listAt(object, 'spec', 'tls').length > 0 ? '80, 443' : '80',
      age(),
    ],
  ],
};

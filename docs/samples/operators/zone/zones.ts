/** A controller of DNS zones with most options of external resources. */
import {
  crossplanePolicySets,
  externalController,
  externalSpecProperties,
  kubernetesTags,
  nameAsExternalName,
  referenceProperties,
  type ChangeLog,
  type Connector,
  type ExternalObject,
  type ExternalPorts,
} from 'espalier/external';
import type { Kind } from 'espalier/runtime';

export interface Zone extends ExternalObject {
  spec: { networkId?: string; tags?: Record<string, string> };
}

export interface Network extends ExternalObject {
  spec: { range: string };
}

const kind = <T>(name: string, plural: string): Kind<T> => ({
  group: 'dns.example.org',
  version: 'v1',
  kind: name,
  plural,
  namespaced: true,
});
export const zoneKind = kind<Zone>('Zone', 'zones');
export const networkKind = kind<Network>('Network', 'networks');

/** The schema of `spec`. */
export const zoneSpec = {
  type: 'object',
  properties: {
    tags: { type: 'object', additionalProperties: { type: 'string' } },
    ...referenceProperties('networkId'),
    ...externalSpecProperties,
  },
};

export const zoneController = (connector: Connector<Zone>, ports: ExternalPorts, changeLog: ChangeLog) =>
  externalController<Zone>(
    {
      name: 'zones',
      kind: zoneKind,
      connector,

      // What is set before the first step.
      initializers: [nameAsExternalName, kubernetesTags()],
      references: [{ field: 'networkId', kind: networkKind }],

      // When the service is asked.
      createGraceMs: 120_000,
      pollMs: ({ status }) => (status?.state === 'ready' ? 600_000 : 60_000),
      pollJitter: 0.2,

      policySets: crossplanePolicySets,
      changeLog,
    },
    ports,
  );

/** Pods and objects that have some, for the tests of the console. */
import type { Pod } from '../../../src/runtime/core-kinds.ts';

export const SECRET = 'hunter2';
const APPS = 'apps/v1';

export const objectOf = (kind: string, name = 'web') => ({ apiVersion: APPS, kind, namespace: 'apps', name });

export const pod = (name: string, owner: [kind: string, name: string] | undefined, more: object = {}): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'apps',
      uid: `uid-${name}`,
      labels: { 'pod-template-hash': 'abc' },
      ...(owner && {
        ownerReferences: [{ apiVersion: APPS, kind: owner[0], name: owner[1], uid: 'o', controller: true }],
      }),
    },
    spec: {
      containers: [{ name: 'server', env: [{ name: 'PASSWORD', value: SECRET }] }],
      nodeName: 'node-1',
    },
    status: {
      phase: 'Running',
      containerStatuses: [
        {
          name: 'server',
          ready: true,
          restartCount: 0,
          state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
        },
      ],
    },
    ...more,
  }) as unknown as Pod;

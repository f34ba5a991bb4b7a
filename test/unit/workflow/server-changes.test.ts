/** What API servers change in applied objects, as a real one was seen to do it. */
import { expect } from 'chai';
import type { Context, Obj } from '../../../src/runtime/types.ts';
import { ssaMatcher } from '../../../src/workflow/match-ssa.ts';
import type { Widget } from '../runtime/support/world.ts';

const ctx = { controller: { fieldManager: 'me' } } as unknown as Context<Widget>;

interface Row {
  readonly apiVersion: string;
  readonly kind: string;
  readonly desired: object;
  readonly stored: object;
  readonly fields: object;
}

/** Whether an object that the server stores like this has to be applied again, by a process that remembers nothing. */
function differs({ apiVersion, kind, desired, stored, fields }: Row): string | undefined {
  const managedFields = [{ manager: 'me', operation: 'Apply', fieldsV1: fields }];
  const of = (more: object): Obj => ({ apiVersion, kind, metadata: { name: 'a' }, ...more });
  const actual = of(stored);
  const metadata = { ...actual.metadata, uid: 'u', resourceVersion: '1', managedFields };
  const match = ssaMatcher<Obj, Widget>().match(
    { ...actual, metadata },
    of(desired),
    undefined as never,
    ctx,
  );
  return match.matched ? undefined : match.diff;
}

const claim = {
  metadata: { name: 'd', labels: {} },
  spec: { accessModes: ['ReadWriteOnce'], storageClassName: '' },
};
const storedClaim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'd' },
  spec: { accessModes: ['ReadWriteOnce'], storageClassName: '', volumeMode: 'Filesystem' },
  status: { phase: 'Pending' },
};
const set = (desired: object, stored: object = storedClaim): Row => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  desired: { spec: { volumeClaimTemplates: [desired] } },
  stored: { spec: { volumeClaimTemplates: [stored] } },
  fields: { 'f:spec': { 'f:volumeClaimTemplates': {} } },
});
const service = (desired: object, stored: object, owned: object): Row => ({
  apiVersion: 'v1',
  kind: 'Service',
  desired: { spec: desired },
  stored: { spec: stored },
  fields: { 'f:spec': owned },
});
const policy = (desired: object, stored: object): Row => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  desired: { spec: { ingress: [desired] } },
  stored: { spec: { ingress: [stored] } },
  fields: { 'f:spec': { 'f:ingress': {} } },
});
const limits = (desired: object, stored: object): Row => ({
  apiVersion: 'v1',
  kind: 'LimitRange',
  desired: { spec: { limits: [desired] } },
  stored: { spec: { limits: [stored] } },
  fields: { 'f:spec': { 'f:limits': {} } },
});
const labelled = (desired: object, owned: object): Row => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  desired: { metadata: { name: 'a', labels: desired } },
  stored: { metadata: { name: 'a', labels: { 'kubernetes.io/metadata.name': 'a' } } },
  fields: { 'f:metadata': { 'f:labels': owned } },
});

describe('an applied object is not applied again after a restart', () => {
  const rows: readonly (readonly [string, Row])[] = [
    ['because of the defaults of a claim template', set(claim)],
    [
      'because of empty values that the server dropped',
      service(
        { externalIPs: [], externalName: '', publishNotReadyAddresses: false },
        {},
        { 'f:externalIPs': {}, 'f:externalName': {}, 'f:publishNotReadyAddresses': {} },
      ),
    ],
    [
      'because of an empty list whose elements have keys',
      service({ type: 'A', ports: [] }, { type: 'A' }, { 'f:type': {} }),
    ],
    ['because an empty value is not desired any more', service({}, {}, { 'f:externalName': {} })],
    [
      'because of defaults in a list that is owned as a whole',
      policy({ ports: [{ port: 80 }] }, { ports: [{ port: 80, protocol: 'TCP' }] }),
    ],
    [
      'because of an empty map of labels in such a list',
      policy({ from: [{ podSelector: { matchLabels: {} } }] }, { from: [{ podSelector: {} }] }),
    ],
    [
      'because of derived limits',
      limits({ default: { cpu: 1 } }, { default: { cpu: '1' }, defaultRequest: { cpu: '1' } }),
    ],
    ['because others add labels to none', labelled({}, {})],
  ];
  for (const [title, row] of rows)
    it(title, () => {
      expect(differs(row)).to.equal(undefined);
    });
});

describe('an applied object is applied again', () => {
  const rows: readonly (readonly [string, Row])[] = [
    [
      'if a default is not the desired value',
      policy({ ports: [{ port: 80, protocol: 'UDP' }] }, { ports: [{ port: 80, protocol: 'TCP' }] }),
    ],
    [
      'if another value than the default is not desired any more',
      policy({ ports: [{ port: 80 }] }, { ports: [{ port: 80, protocol: 'UDP' }] }),
    ],
    [
      'if a label of a claim template is not desired any more',
      set(claim, { ...storedClaim, metadata: { name: 'd', labels: { a: 'b' } } }),
    ],
    [
      'if an empty value was never applied',
      service({ type: 'A', externalName: '' }, { type: 'A' }, { 'f:type': {} }),
    ],
    ['if a value that is not empty is missing', service({ externalName: 'x' }, {}, { 'f:externalName': {} })],
    [
      'if an empty selector was added, which selects everything',
      policy({ from: [{ podSelector: {}, namespaceSelector: {} }] }, { from: [{ podSelector: {} }] }),
    ],
    [
      'if a limit of its own is not desired any more',
      limits({ default: { cpu: 1 } }, { default: { cpu: '1' }, defaultRequest: { cpu: '2' } }),
    ],
    ['if its labels are not desired any more', labelled({}, { 'f:kubernetes.io/metadata.name': {} })],
    [
      'if an empty list is missing in a custom resource',
      {
        apiVersion: 'example.io/v1',
        kind: 'Widget',
        desired: { spec: { a: 1, list: [] } },
        stored: { spec: { a: 1 } },
        fields: { 'f:spec': { 'f:a': {} } },
      },
    ],
  ];
  for (const [title, row] of rows)
    it(title, () => {
      expect(differs(row)).to.be.a('string');
    });
});

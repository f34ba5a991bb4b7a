import { expect } from 'chai';
import { PatchError } from '../../../src/apiserver/patch/patch.ts';
import { applyStrategicMerge, patchKeysOf, type PatchKeys } from '../../../src/apiserver/patch/strategic.ts';

const keysOf = (group: string, version: string, kind: string): PatchKeys => {
  const keys = patchKeysOf(group, version, kind);
  if (!keys) throw new Error(`no keys for ${kind}`);
  return keys;
};
const deploymentKeys = keysOf('apps', 'v1', 'Deployment');

const container = (name: string, more: object = {}): object => ({ name, image: `i:${name}`, ...more });
const env = [
  { name: 'A', value: '1' },
  { name: 'B', value: '2' },
];
const deployment = {
  metadata: { name: 'd', finalizers: ['a/a', 'b/b'] },
  spec: {
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } },
    template: {
      spec: {
        containers: [container('a', { env }), container('b'), container('c')],
        tolerations: [{ key: 't' }],
        volumes: [{ name: 'v', emptyDir: {} }],
      },
    },
  },
};

type Deployment = typeof deployment;
const patched = (patch: object): Deployment => applyStrategicMerge(deployment, patch, deploymentKeys);
const podSpec = (patch: object): Deployment['spec']['template']['spec'] =>
  patched({ spec: { template: { spec: patch } } }).spec.template.spec;
const names = (list: readonly object[]): string[] => list.map((item) => (item as { name: string }).name);

describe('a strategic merge patch', () => {
  it('API-99: merges containers and their environment by name, new ones first', () => {
    const { containers } = podSpec({
      containers: [
        container('z'),
        {
          name: 'a',
          env: [
            { name: 'C', value: '3' },
            { name: 'B', value: '9' },
          ],
        },
      ],
    });
    expect(names(containers)).to.deep.equal(['z', 'a', 'b', 'c']);
    expect(containers[1]).to.deep.equal(
      container('a', {
        env: [
          { name: 'C', value: '3' },
          { name: 'A', value: '1' },
          { name: 'B', value: '9' },
        ],
      }),
    );
  });
  it('API-99: replaces lists without merge key', () => {
    expect(podSpec({ tolerations: [{ key: 'n' }] }).tolerations).to.deep.equal([{ key: 'n' }]);
  });
  it('API-100: deletes an item', () => {
    expect(names(podSpec({ containers: [{ name: 'b', $patch: 'delete' }] }).containers)).to.deep.equal([
      'a',
      'c',
    ]);
  });
  it('API-100: replaces a list with a directive in an extra item', () => {
    expect(podSpec({ containers: [{ $patch: 'replace' }, container('z')] }).containers).to.deep.equal([
      container('z'),
    ]);
  });
  it('API-100: replaces a map', () => {
    const { strategy } = patched({ spec: { strategy: { $patch: 'replace', type: 'Recreate' } } }).spec;
    expect(strategy).to.deep.equal({ type: 'Recreate' });
  });
  it('API-100: sets the order of items', () => {
    const order = [{ name: 'c' }, { name: 'z' }, { name: 'a' }];
    const { containers } = podSpec({ '$setElementOrder/containers': order, containers: [container('z')] });
    expect(names(containers)).to.deep.equal(['b', 'c', 'z', 'a']);
    expect(names(podSpec({ '$setElementOrder/containers': order }).containers)).to.deep.equal([
      'b',
      'c',
      'a',
    ]);
  });
  it('API-100: keeps only the named keys', () => {
    const { strategy } = patched({ spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } }).spec;
    expect(strategy).to.deep.equal({ type: 'Recreate' });
    const volumes = [{ name: 'v', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/x' } }];
    expect(podSpec({ volumes }).volumes).to.deep.equal([{ name: 'v', hostPath: { path: '/x' } }]);
  });
  it('API-100: adds to and deletes from lists of strings', () => {
    const { metadata } = patched({
      metadata: { finalizers: ['c/c'], '$deleteFromPrimitiveList/finalizers': ['a/a'] },
    });
    expect(metadata.finalizers).to.have.members(['b/b', 'c/c']);
  });
  it('API-102: merges the ports of a service by port alone', () => {
    const service = {
      spec: {
        ports: [
          { port: 80, protocol: 'TCP' },
          { port: 80, protocol: 'UDP' },
        ],
      },
    };
    const keys = keysOf('', 'v1', 'Service');
    const { ports } = applyStrategicMerge(service, { spec: { ports: [{ port: 80, name: 'q' }] } }, keys).spec;
    expect(ports).to.deep.include({ port: 80, protocol: 'TCP', name: 'q' });
  });
  it('removes fields by null', () => {
    expect(podSpec({ tolerations: null })).to.not.have.property('tolerations');
  });

  const bad: [string, object, number, string][] = [
    [
      'an item without key',
      { image: 'x' },
      500,
      'map: map[image:x] does not contain declared merge key: name',
    ],
    [
      'an unknown directive',
      { name: 'a', $patch: 'bogus' },
      500,
      'unknown patch type: bogus in map: map[$patch:bogus name:a]',
    ],
  ];
  for (const [title, item, code, message] of bad) {
    it(`rejects ${title} as upstream does`, () => {
      expect(() => podSpec({ containers: [item] }))
        .to.throw(PatchError, message)
        .with.property('code', code);
    });
  }

  it('API-101: is not supported for custom kinds', () => {
    expect(patchKeysOf('ex.io', 'v1', 'Widget')).to.equal(undefined);
  });
});

import { expect } from 'chai';
import fc from 'fast-check';
import {
  applyServerSide,
  ApplyTypeError,
  updateManagedFields,
  type ApplyResult,
} from '../../../src/apiserver/apply/apply.ts';
import { builtinObjectType, customType } from '../../../src/apiserver/apply/builtin-types.ts';
import type { ObjectType } from '../../../src/apiserver/apply/managed-fields.ts';
import type { KubeObject, ManagedFieldsEntry } from '../../../src/apiserver/types.ts';
import { widgetSchema } from './widget.ts';

const typeOf = (group: string, version: string, kind: string): ObjectType => {
  const type = builtinObjectType(group, version, kind);
  if (!type) throw new Error(`no such kind: ${kind}`);
  return type;
};
const configMapType = typeOf('', 'v1', 'ConfigMap');

const configMap = (data?: Record<string, string | null>, metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'cm', namespace: 'ns', ...metadata },
  ...(data ? { data } : {}),
});

const time = (second: number): string => `2026-01-31T12:00:${String(second).padStart(2, '0')}Z`;

/** One object that a test applies and updates, second by second. */
class World {
  live: KubeObject | undefined;
  #second = 0;
  readonly #type: ObjectType;

  constructor(type: ObjectType = configMapType) {
    this.#type = type;
  }

  apply(manager: string, applied: KubeObject, force = false): ApplyResult {
    const result = applyServerSide({
      ...this.#common(),
      live: this.live,
      applied,
      manager,
      force,
      apiVersion: applied.apiVersion,
    });
    if ('object' in result) this.live = result.object;
    return result;
  }

  update(manager: string, change: (object: KubeObject) => KubeObject, subresource?: string): void {
    if (!this.live) throw new Error('nothing to update');
    const after = change(this.live);
    const managed = updateManagedFields({
      ...this.#common(),
      before: this.live,
      after,
      manager,
      apiVersion: after.apiVersion,
      subresource,
    });
    const { managedFields: _, ...metadata } = after.metadata;
    this.live = { ...after, metadata: { ...metadata, ...(managed ? { managedFields: managed } : {}) } };
  }

  /** `manager` → fieldsV1. */
  get owners(): Record<string, unknown> {
    return Object.fromEntries(this.entries.map((entry) => [entry.manager ?? '', entry.fieldsV1]));
  }

  get entries(): readonly ManagedFieldsEntry[] {
    return this.live?.metadata.managedFields ?? [];
  }

  #common(): { type: ObjectType; time: string } {
    return { type: this.#type, time: time(this.#second++) };
  }
}

const messageOf = (result: ApplyResult): string => ('conflicts' in result ? result.message : 'no conflict');
const data = (...names: string[]): object => ({
  'f:data': Object.fromEntries(names.map((name) => [`f:${name}`, {}])),
});

describe('server-side apply', () => {
  it('API-103: records the owners of all fields of a new object', () => {
    const world = new World();
    world.apply('m1', configMap({ a: '1', b: '2' }));
    expect(world.entries).to.deep.equal([
      {
        manager: 'm1',
        operation: 'Apply',
        apiVersion: 'v1',
        time: time(0),
        fieldsType: 'FieldsV1',
        fieldsV1: data('a', 'b'),
      },
    ]);
  });
  it('API-104: changes nothing the second time', () => {
    const world = new World();
    world.apply('m1', configMap({ a: '1' }));
    const before = world.live;
    expect(world.apply('m1', configMap({ a: '1' }))).to.have.property('isChanged', false);
    expect(world.live).to.deep.equal(before);
  });
  it('API-105: removes fields that the manager no longer applies', () => {
    const world = new World();
    world.apply('m1', configMap({ a: '1', b: '2' }));
    world.apply('m1', configMap({ a: '1' }));
    expect(world.live).to.have.deep.property('data', { a: '1' });
    expect(world.owners).to.deep.equal({ m1: data('a') });
  });
  it('API-106: conflicts with the owner of another value', () => {
    const world = new World();
    world.apply('m1', configMap({ a: '1' }));
    expect(world.apply('m2', configMap({ a: '2' }))).to.deep.equal({
      conflicts: [{ manager: '"m1"', field: '.data.a' }],
      message: 'Apply failed with 1 conflict: conflict with "m1": .data.a',
    });
  });
  it('API-107: shares an equal value, without a time because nothing changed', () => {
    const world = new World();
    world.apply('m1', configMap({ a: '1' }));
    world.apply('m2', configMap({ a: '1' }));
    expect(world.owners).to.deep.equal({ m1: data('a'), m2: data('a') });
    expect(world.entries.find((entry) => entry.manager === 'm2')).to.not.have.property('time');
  });
  it('API-108: changes a shared value only by force, and then owns it alone', () => {
    const world = new World();
    world.apply('m1', configMap({ a: '1' }));
    world.apply('m2', configMap({ a: '1', b: '2' }));
    expect(messageOf(world.apply('m1', configMap({ a: '9' })))).to.contain('conflict with "m2": .data.a');
    world.apply('m1', configMap({ a: '9' }), true);
    expect(world.owners).to.deep.equal({ m1: data('a'), m2: data('b') });
  });
  it('API-109: keeps a value that another manager applies', () => {
    const world = new World();
    world.apply('m1', configMap({ a: '1' }));
    world.apply('m2', configMap({ a: '1' }));
    world.apply('m1', configMap());
    expect(world.live).to.have.deep.property('data', { a: '1' });
    expect(world.owners).to.deep.equal({ m2: data('a') });
  });
  it('API-110, API-111: names all conflicting managers, and their operations', () => {
    const world = new World();
    world.apply('m2', configMap({ a: '1', c: '3' }));
    world.update('upd', (object) => ({ ...object, data: { a: 'x', c: '3', u: '1' } }));
    expect(world.owners).to.deep.equal({ m2: data('c'), upd: data('a', 'u') });
    expect(messageOf(world.apply('m3', configMap({ a: 'y', c: 'y', u: 'y' })))).to.equal(
      'Apply failed with 3 conflicts: conflicts with "m2":\n- .data.c\nconflicts with "upd" using v1:\n- .data.a\n- .data.u',
    );
  });
  it('API-113: rejects a value of the wrong type', () => {
    const bad = { ...configMap(), data: { k: 5 }, foo: 1 } as unknown as KubeObject;
    expect(() => new World().apply('m', bad)).to.throw(
      ApplyTypeError,
      'failed to create typed patch object (ns/cm; /v1, Kind=ConfigMap): errors:\n' +
        '  .data.k: expected string, got &value.valueUnstructured{Value:5}\n' +
        '  .foo: field not declared in schema',
    );
  });
  it('API-119: assigns fields without owner to before-first-apply', () => {
    const world = new World();
    world.live = configMap({ a: '1' }, { uid: 'u', labels: { x: 'y' } });
    expect(messageOf(world.apply('m1', configMap({ a: '2' })))).to.equal(
      'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.a',
    );
    world.apply('m1', configMap({ z: '2' }));
    expect(world.entries.map((entry) => [entry.manager, entry.operation])).to.deep.equal([
      ['m1', 'Apply'],
      ['before-first-apply', 'Update'],
    ]);
  });
  it('stores an empty string for null', () => {
    const world = new World();
    world.apply('m1', configMap({ a: null }));
    expect(world.live).to.have.deep.property('data', { a: '' });
  });

  it('is idempotent, and stores what the manager applied', () => {
    const config = fc
      .dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('1', '2'), { minKeys: 1 })
      .map((values) => configMap(values));
    const step = fc.tuple(fc.constantFrom('m1', 'm2', 'm3'), config);
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
        const world = new World();
        for (const [manager, applied] of steps) {
          world.apply(manager, applied, true);
          const once = world.live;
          expect(once?.['data'] ?? {}).to.include(applied['data']);
          world.apply(manager, applied, true);
          expect(world.live).to.deep.equal(once);
        }
        const owned = world.entries.flatMap((entry) => Object.keys(entry.fieldsV1?.['f:data'] ?? {}));
        const there = Object.keys((world.live?.['data'] as object | undefined) ?? {}).map(
          (name) => `f:${name}`,
        );
        expect(new Set(owned.filter((name) => name !== '.'))).to.deep.equal(new Set(there));
      }),
    );
  });
});

describe('server-side apply of a deployment', () => {
  const deployment = (containers: object[], more: object = {}): KubeObject => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd', namespace: 'ns' },
    spec: { ...more, template: { spec: { containers } } },
  });
  const world = (): World => {
    const world = new World(typeOf('apps', 'v1', 'Deployment'));
    world.apply(
      'a',
      deployment([{ name: 'c', image: 'i' }], { replicas: 2, selector: { matchLabels: { x: 'y' } } }),
    );
    return world;
  };
  const containersOf = (world: World): readonly object[] =>
    (world.live?.['spec'] as { template: { spec: { containers: object[] } } }).template.spec.containers;

  it('API-114: merges containers and their environment by name; each manager removes its own', () => {
    const it = world();
    it.apply(
      'b',
      deployment([
        { name: 'side', image: 's' },
        { name: 'c', env: [{ name: 'E', value: '1' }] },
      ]),
    );
    expect(containersOf(it)).to.deep.equal([
      { name: 'side', image: 's' },
      { name: 'c', image: 'i', env: [{ name: 'E', value: '1' }] },
    ]);
    it.apply('b', deployment([{ name: 'c', env: [] }]));
    expect(containersOf(it)).to.deep.equal([{ name: 'c', image: 'i' }]);
  });
  it('API-115: prints paths into list maps, and treats selectors as atomic', () => {
    const applied = deployment([{ name: 'c', image: 'other' }], {
      replicas: 5,
      selector: { matchLabels: { x: 'z' } },
    });
    expect(messageOf(world().apply('b', applied))).to.equal(
      'Apply failed with 3 conflicts: conflicts with "a":\n' +
        '- .spec.replicas\n- .spec.selector\n- .spec.template.spec.containers[name="c"].image',
    );
  });
  it('API-113: rejects two items with the same key', () => {
    expect(() => world().apply('a', deployment([{ name: 'c' }, { name: 'c' }]))).to.throw(
      'failed to create typed patch object (ns/d; apps/v1, Kind=Deployment): ' +
        '.spec.template.spec.containers: duplicate entries for key [name="c"]',
    );
  });
  it('API-115: fills in the default of a key', () => {
    const it = world();
    it.apply('b', deployment([{ name: 'c', ports: [{ containerPort: 80 }] }]));
    expect(JSON.stringify(it.owners['b'])).to.contain('k:{\\"containerPort\\":80,\\"protocol\\":\\"TCP\\"}');
  });
  it('API-116: changes the status only through its endpoint', () => {
    const type = typeOf('apps', 'v1', 'Deployment');
    const applied: KubeObject = { ...deployment([{ name: 'c', image: 'i' }]), status: { replicas: 1 } };
    const result = applyServerSide({
      applied,
      manager: 'm',
      type,
      apiVersion: 'apps/v1',
      time: time(0),
      owns: (member) => member !== 'status',
    });
    if (!('object' in result)) throw new Error('conflict');
    expect(result.object).to.not.have.property('status');
    expect(result.object.metadata.managedFields?.[0]?.fieldsV1).to.not.have.property('f:status');
  });
});

describe('server-side apply of a custom kind', () => {
  it('API-122: treats sets, maps and free-form parts as the schema says', () => {
    const world = new World(customType(widgetSchema));
    world.apply('m', {
      apiVersion: 'ex.io/v1',
      kind: 'Widget',
      metadata: { name: 'w' },
      spec: { foo: 'abc', set: ['x'], lm: [{ k: 'a', v: 1 }], any: { l: [1] }, list: ['a'] },
    });
    expect(world.owners['m']).to.deep.equal({
      'f:spec': {
        'f:any': { 'f:l': {} },
        'f:foo': {},
        'f:list': {},
        'f:lm': { 'k:{"k":"a"}': { '.': {}, 'f:k': {}, 'f:v': {} } },
        'f:set': { 'v:"x"': {} },
      },
    });
  });
});

describe('kubectl apply after client-side apply', () => {
  const annotation = 'kubectl.kubernetes.io/last-applied-configuration';

  it('API-121: takes over the fields in the annotation and rewrites it', () => {
    const world = new World();
    const text = JSON.stringify(configMap({ a: '1' }));
    world.live = configMap({ a: '1' }, { uid: 'u', annotations: { [annotation]: text } });
    world.live.metadata.managedFields = [
      {
        manager: 'kubectl-client-side-apply',
        operation: 'Update',
        apiVersion: 'v1',
        time: time(0),
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { '.': {}, 'f:a': {} } },
      },
    ];
    expect(messageOf(world.apply('other', configMap({ a: '2' })))).to.contain('1 conflict');
    expect(messageOf(world.apply('kubectl', configMap({ a: '2' })))).to.equal('no conflict');
    expect(JSON.parse(world.live.metadata.annotations?.[annotation] ?? '')).to.deep.equal(
      configMap({ a: '2' }),
    );
  });
});

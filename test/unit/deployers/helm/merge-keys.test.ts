/** Our table of merge keys against the schemas of the API server, and the patches that follow from it. */
import { expect } from 'chai';
import { rulesBelow, rulesOfKind, type TypeRules } from '../../../../deployers/helm/release/merge-keys.ts';
import { changedFields, jsonPatch, strategicPatch } from '../../../../deployers/helm/release/three-way.ts';
import { kindsData, REF } from '../../../../src/apiserver/kinds/schemas.ts';
import { applyStrategicMerge, patchKeysOf } from '../../../../src/apiserver/patch/strategic.ts';
import type { JsonSchema } from '../../../../src/apiserver/schema/types.ts';
import { mergePatch } from '../../../../src/lib/merge.ts';
import type { Fields } from '../../../../src/lib/objects.ts';

/** `spec.template.spec.containers: merge name`, for all fields of a schema but the status. */
function* rulesIn(schema: JsonSchema | undefined, path: readonly string[]): Generator<string> {
  const body = bodyOf(schema);
  for (const [name, field] of Object.entries(body?.properties ?? {})) {
    if (path.length > 9 || (path.length === 0 && name === 'status')) continue;
    const strategy = field['x-kubernetes-patch-strategy'] ?? '';
    const key = field['x-kubernetes-patch-merge-key'] ?? '';
    const at = [...path, name];
    if (strategy !== '') yield `${at.join('.')}: ${strategy} ${key}`.trimEnd();
    const inner = bodyOf(field);
    const isAtomic = inner?.items !== undefined && !strategy.includes('merge');
    if (!isAtomic && strategy !== 'replace') yield* rulesIn(inner?.items ?? field, at);
  }
}

function bodyOf(schema: JsonSchema | undefined): JsonSchema | undefined {
  const ref = schema?.$ref ?? schema?.allOf?.[0]?.$ref;
  return ref === undefined ? schema : kindsData().schemas[ref.slice(REF.length)];
}

function* rulesOf(rules: TypeRules, path: readonly string[]): Generator<string> {
  for (const [name, field] of Object.entries(rules)) {
    const strategies = [
      ...(field.mergeKey === undefined ? [] : ['merge']),
      ...(field.retainsKeys ? ['retainKeys'] : []),
      ...(field.isReplaced ? ['replace'] : []),
    ].join(',');
    const at = [...path, name];
    if (strategies !== '') yield `${at.join('.')}: ${strategies} ${field.mergeKey ?? ''}`.trimEnd();
    yield* rulesOf(rulesBelow(field), at);
  }
}

describe('the merge keys of built-in kinds', () => {
  const kinds = Object.values(kindsData().schemas).flatMap((schema) =>
    (schema['x-kubernetes-group-version-kind'] ?? []).map((gvk) => ({ gvk, schema })),
  );
  const served = kinds.filter(({ schema }) => schema.properties?.['metadata'] && schema.properties['kind']);

  it('are those of the schemas of the API server', () => {
    expect(served.length).to.be.greaterThan(50);
    for (const { gvk, schema } of served) {
      // Lists, and kinds that no client writes.
      if (/List$|^(Component)?Status$/.test(gvk.kind)) continue;
      const { group, version, kind } = gvk;
      const apiVersion = group === '' ? version : `${group}/${version}`;
      const ours = [...rulesOf(rulesOfKind({ apiVersion, kind }), [])].sort();
      expect(ours, `${apiVersion} ${kind}`).to.deep.equal([...rulesIn(schema, [])].sort());
    }
  });
});

describe('a three-way merge', () => {
  const pod = (spec: object, metadata: object = {}): Fields => ({ metadata, spec });
  const podRules = rulesOfKind({ apiVersion: 'v1', kind: 'Pod' });
  const keys = patchKeysOf('', 'v1', 'Pod');
  const merged = (before: Fields, live: Fields, wanted: Fields): { patch: Fields; result: unknown } => {
    const patch = strategicPatch({ before, live, wanted }, podRules);
    return { patch, result: applyStrategicMerge(live, patch, keys) };
  };
  const container = (name: string, more: object = {}): object => ({ name, image: `${name}:1`, ...more });

  it('is empty if the object is as wanted', () => {
    const wanted = pod({ containers: [container('a')] });
    const live = pod({ containers: [container('a', { env: [] })], nodeName: 'n' }, { uid: 'u' });
    expect(merged(wanted, live, wanted).patch).to.deep.equal({});
  });

  it('changes, adds and removes elements of a list by key, and keeps those of others', () => {
    const before = pod({ containers: [container('a'), container('gone')] });
    const live = pod({
      containers: [container('injected'), container('a', { tty: true }), container('gone')],
    });
    const wanted = pod({ containers: [container('new'), container('a', { image: 'a:2' })] });
    const { patch, result } = merged(before, live, wanted);
    expect(result).to.deep.equal(
      pod({
        containers: [container('new'), container('injected'), container('a', { image: 'a:2', tty: true })],
      }),
    );
    expect(patch).to.deep.include({
      spec: {
        containers: [container('new'), { name: 'a', image: 'a:2' }, { $patch: 'delete', name: 'gone' }],
        '$setElementOrder/containers': [{ name: 'new' }, { name: 'a' }],
      },
    });
  });

  it('names the order of a list with each change of an element, as servers expect it', () => {
    const before = pod({ containers: [container('a'), container('b')] });
    const wanted = pod({ containers: [container('a'), container('b', { image: 'b:2' })] });
    expect(merged(before, before, wanted).patch).to.deep.equal({
      spec: {
        containers: [{ name: 'b', image: 'b:2' }],
        '$setElementOrder/containers': [{ name: 'a' }, { name: 'b' }],
      },
    });
  });

  it('removes fields that left the chart, but not fields of others', () => {
    const { result } = merged(
      pod({}, { labels: { a: '1', b: '2' } }),
      pod({}, { labels: { a: '1', b: '2', theirs: '3' } }),
      pod({}, { labels: { a: '9' } }),
    );
    expect(result).to.deep.equal(pod({}, { labels: { a: '9', theirs: '3' } }));
  });

  it('clears the other fields of a volume, because only one source may be set', () => {
    const volume = (source: object): Fields => pod({ volumes: [{ name: 'v', ...source }] });
    const { patch, result } = merged(
      volume({ emptyDir: {} }),
      volume({ emptyDir: {} }),
      volume({ configMap: { name: 'c' } }),
    );
    expect(result).to.deep.equal(volume({ configMap: { name: 'c' } }));
    expect(JSON.stringify(patch)).to.contain('"$retainKeys":["configMap","name"]');
  });

  it('sends nothing for a volume without changes', () => {
    const same = pod({ volumes: [{ name: 'v', emptyDir: {} }] });
    expect(merged(same, same, same).patch).to.deep.equal({});
  });

  it('merges lists of scalars as sets', () => {
    const { patch, result } = merged(
      pod({}, { finalizers: ['a', 'b'] }),
      pod({}, { finalizers: ['a', 'b', 'theirs'] }),
      pod({}, { finalizers: ['c', 'a'] }),
    );
    expect(patch).to.nested.include({ 'metadata.$deleteFromPrimitiveList/finalizers[0]': 'b' });
    expect((result as { metadata: { finalizers: string[] } }).metadata.finalizers).to.have.members([
      'a',
      'c',
      'theirs',
    ]);
  });

  describe('of two elements with one merge key', () => {
    const rules = rulesOfKind({ apiVersion: 'v1', kind: 'Service' });
    const service = (...ports: readonly object[]): Fields => ({ spec: { ports } });
    const udp = { name: 'dns', port: 53, protocol: 'UDP' };
    const tcp = { name: 'dns-tcp', port: 53 };
    const live = {
      udp: { ...udp, targetPort: 53 },
      tcp: { ...tcp, protocol: 'TCP', targetPort: 53, nodePort: 7 },
    };
    const theirs = { name: 'theirs', port: 99, protocol: 'TCP' };
    const rows: readonly (readonly [string, Fields, Fields, Fields, Fields])[] = [
      ['adds one', service(udp), service(live.udp), service(udp, tcp), service(live.udp, tcp)],
      [
        'changes one and keeps what servers added',
        service(udp, tcp),
        service(live.udp, live.tcp),
        service(udp, { ...tcp, name: 'x' }),
        service(live.udp, { ...live.tcp, name: 'x' }),
      ],
      ['removes one', service(udp, tcp), service(live.udp, live.tcp), service(tcp), service(live.tcp)],
      [
        'orders them',
        service(udp, tcp),
        service(live.udp, live.tcp),
        service(tcp, udp),
        service(live.tcp, live.udp),
      ],
      [
        'removes a field',
        service({ ...udp, appProtocol: 'a' }, tcp),
        service({ ...live.udp, appProtocol: 'a' }, live.tcp),
        service(udp, tcp),
        service(live.udp, live.tcp),
      ],
      [
        'keeps those of others',
        service(udp),
        service(theirs, live.udp),
        service(udp, tcp),
        service(live.udp, tcp, theirs),
      ],
      [
        'creates one that was deleted',
        service(udp, tcp),
        service(live.udp),
        service(udp, tcp),
        service(live.udp, tcp),
      ],
    ];
    for (const [title, before, current, wanted, result] of rows)
      it(title, () => {
        const patch = strategicPatch({ before, live: current, wanted }, rules);
        expect(applyStrategicMerge(current, patch, patchKeysOf('', 'v1', 'Service'))).to.deep.equal(result);
        // Once applied, nothing is left to change.
        expect(strategicPatch({ before: wanted, live: result, wanted }, rules)).to.deep.equal({});
      });

    it('distinguishes ports of a container by number and protocol', () => {
      const ports = (...list: readonly object[]): Fields =>
        pod({ containers: [container('a', { ports: list })] });
      const [udp, tcp, web] = [
        { containerPort: 53, protocol: 'UDP' },
        { containerPort: 53, protocol: 'TCP' },
        { containerPort: 80, protocol: 'TCP' },
      ];
      const live = ports(udp, { ...tcp, hostIP: 'theirs' }, web);
      expect(merged(ports(udp, tcp, web), live, ports(udp, web)).result).to.deep.equal(ports(udp, web));
    });

    it('distinguishes the constraints of a topology by two keys, and other elements by their position', () => {
      const constraint = (maxSkew: number, whenUnsatisfiable: string): object => ({
        maxSkew,
        topologyKey: 'z',
        whenUnsatisfiable,
      });
      const [hard, soft] = [constraint(2, 'DoNotSchedule'), constraint(1, 'ScheduleAnyway')];
      const spread = (...list: readonly object[]): Fields => pod({ topologySpreadConstraints: list });
      expect(merged(spread(soft), spread(soft), spread(hard, soft)).result).to.deep.equal(spread(hard, soft));
      const env = (...values: readonly string[]): Fields =>
        pod({ containers: [{ name: 'a', env: values.map((value) => ({ name: 'A', value })) }] });
      expect(merged(env('1', '2'), env('1', '2'), env('1', '3')).result).to.deep.equal(env('1', '3'));
      expect(merged(env('1', '2'), env('1', '2'), env('2')).result).to.deep.equal(env('2'));
    });
  });

  it('of a custom resource changes only what the chart changed, or repairs everything', () => {
    const before = { spec: { size: 1, list: [1], gone: true } };
    const live = { spec: { size: 5, list: [1], gone: true, theirs: 1 } };
    const wanted = { spec: { size: 1, list: [2] } };
    const changed = changedFields(before, wanted);
    expect(mergePatch(live, changed)).to.deep.equal({ spec: { size: 5, list: [2], theirs: 1 } });
    const repaired = jsonPatch({ before, live, wanted });
    expect(mergePatch(live, repaired)).to.deep.equal({ spec: { size: 1, list: [2], theirs: 1 } });
    expect(jsonPatch({ before: {}, live, wanted }), 'a map that is new in the chart').to.deep.equal({
      spec: { size: 1, list: [2] },
    });
  });
});

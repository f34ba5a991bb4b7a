/** The requests that the answer of a reconciler becomes. */
import { expect } from 'chai';
import { applyUpdate, writeStatus, type ControlPorts } from '../../../../src/runtime/controller/controls.ts';
import type { UpdateControl, View, Write, Writer } from '../../../../src/runtime/types.ts';
import { widgets, type Widget } from '../support/world.ts';

const base: Widget = {
  apiVersion: 'example.io/v1',
  kind: 'Widget',
  metadata: {
    namespace: 'A',
    name: '1',
    uid: 'u',
    resourceVersion: '7',
    generation: 3,
    managedFields: [],
  },
  spec: { size: 1 },
  status: { phase: 'New' },
};
const changed = (more: Partial<Widget> = {}): Widget => ({
  ...structuredClone(base),
  spec: { size: 2 },
  status: { phase: 'Ready' },
  ...more,
});

function stage(more: Partial<ControlPorts<Widget>> = {}) {
  const writes: Write<Widget>[] = [];
  const write = ((each: Write<Widget>) => {
    writes.push(each);
    const answer = { ...base, metadata: { ...base.metadata, resourceVersion: String(7 + writes.length) } };
    return Promise.resolve(answer);
  }) as unknown as Writer;
  const ports: ControlPorts<Widget> = {
    kind: widgets,
    write,
    manager: 'me',
    finalizer: undefined,
    observed: undefined,
    ...more,
  };
  return { writes, ports };
}
/** Without the kind, which is always the same. */
const sent = async (
  control: UpdateControl<Widget>,
  more: Partial<ControlPorts<Widget>> = {},
): Promise<readonly object[]> => {
  const { writes, ports } = stage(more);
  await applyUpdate(control, base, ports);
  return writes.map(({ kind, ...rest }) => {
    expect(kind).to.equal(widgets);
    return rest;
  });
};
const key = 'A/1';
const version = { resourceVersion: '7' };

describe('a reconcile that writes nothing', () => {
  const rows: readonly (readonly [string, number | undefined, View<Widget>, readonly object[]])[] = [
    ['sends nothing', undefined, base, []],
    [
      'notes a generation that the status does not show',
      3,
      base,
      [
        {
          verb: 'merge',
          key,
          sub: 'status',
          body: { metadata: { uid: 'u' }, status: { observedGeneration: 3 } },
        },
      ],
    ],
    ['notes none that it shows', 3, { ...base, status: { observedGeneration: 3 } }, []],
  ];
  for (const [title, observed, object, expected] of rows)
    it(title, async () => {
      const { writes, ports } = stage({ observed });
      const answer = await applyUpdate({ write: 'none' }, object, ports);
      expect(writes.map(({ kind: _, ...rest }) => rest)).to.deep.equal(expected);
      expect(answer.metadata.resourceVersion).to.equal(writes.length > 0 ? '8' : '7');
    });
});

describe('a reconcile that writes the resource', () => {
  const labels = { a: 'b' };
  const labelled = changed({ metadata: { ...base.metadata, labels } });
  const patched = { spec: { size: 2 } };
  const rows: readonly (readonly [string, UpdateControl<Widget>, readonly object[]])[] = [
    [
      'sends the difference, with the version that it was computed from',
      { write: 'resource', object: changed() },
      [{ verb: 'merge', key, lock: true, body: { ...patched, metadata: version } }],
    ],
    [
      'sends changed metadata, too',
      { write: 'resource', object: labelled },
      [{ verb: 'merge', key, lock: true, body: { ...patched, metadata: { ...version, labels } } }],
    ],
    [
      'sends nothing when only the status differs',
      { write: 'resource', object: changed({ spec: { size: 1 } }) },
      [],
    ],
    [
      'sends nothing when only metadata of the server differ',
      {
        write: 'resource',
        object: changed({ spec: { size: 1 }, metadata: { ...base.metadata, generation: 9, uid: 'x' } }),
      },
      [],
    ],
    [
      'takes an object without a version for one of the version that was read',
      { write: 'resource', object: changed({ metadata: { namespace: 'A', name: '1' } }) },
      [{ verb: 'merge', key, lock: true, body: { ...patched, metadata: version } }],
    ],
    [
      'names another version when the object has one',
      { write: 'resource', object: changed({ metadata: { ...base.metadata, resourceVersion: '6' } }) },
      [{ verb: 'merge', key, lock: true, body: { ...patched, metadata: { resourceVersion: '6' } } }],
    ],
    [
      'sends a JSON patch that tests the version first',
      { write: 'resource', object: changed(), strategy: 'json' },
      [
        {
          verb: 'json',
          key,
          lock: true,
          ops: [
            { op: 'test', path: '/metadata/resourceVersion', value: '7' },
            { op: 'replace', path: '/spec/size', value: 2 },
          ],
        },
      ],
    ],
    [
      'sends no JSON patch when nothing differs',
      { write: 'resource', object: changed({ spec: { size: 1 } }), strategy: 'json' },
      [],
    ],
    [
      'replaces the whole, without managed fields',
      { write: 'resource', object: changed(), strategy: 'replace' },
      [
        {
          verb: 'replace',
          lock: true,
          object: {
            ...changed(),
            metadata: { namespace: 'A', name: '1', uid: 'u', resourceVersion: '7', generation: 3 },
          },
        },
      ],
    ],
    [
      'replaces nothing when nothing differs',
      { write: 'resource', object: changed({ spec: { size: 1 } }), strategy: 'replace' },
      [],
    ],
    [
      'applies its intent without the status, even if nothing differs',
      { write: 'resource', object: structuredClone(base), strategy: 'apply' },
      [
        {
          verb: 'apply',
          lock: true,
          manager: 'me',
          force: true,
          object: {
            apiVersion: 'example.io/v1',
            kind: 'Widget',
            spec: { size: 1 },
            metadata: { namespace: 'A', name: '1', uid: 'u', resourceVersion: '7', generation: 3 },
          },
        },
      ],
    ],
  ];
  for (const [title, control, expected] of rows)
    it(title, async () => {
      expect(await sent(control)).to.deep.equal(expected);
    });

  for (const [title, finalizers, expected] of [
    ['adds the finalizer to an intent without any', undefined, ['f']],
    ['adds it to others', ['x'], ['x', 'f']],
    ['adds it once', ['f', 'x'], ['f', 'x']],
  ] as const)
    it(title, async () => {
      const object = changed({
        metadata: { ...base.metadata, ...(finalizers && { finalizers: [...finalizers] }) },
      });
      const control = { write: 'resource', object, strategy: 'apply' } as const;
      expect(await sent(control, { finalizer: 'f' })).to.have.deep.nested.property(
        '[0].object.metadata.finalizers',
        expected,
      );
    });

  it('leaves the finalizers of an intent alone if it keeps none', async () => {
    const [write] = await sent({ write: 'resource', object: changed(), strategy: 'apply' });
    expect(write).not.to.have.nested.property('object.metadata.finalizers');
  });

  it('does not change the object that it was given', async () => {
    const object = changed();
    await sent({ write: 'resource', object, strategy: 'apply' }, { finalizer: 'f' });
    expect(object).to.deep.equal(changed());
  });

  it('answers with what is known when nothing was sent', async () => {
    const { ports } = stage();
    expect(await applyUpdate({ write: 'resource', object: structuredClone(base) }, base, ports)).to.equal(
      base,
    );
  });
});

describe('a reconcile that writes the status', () => {
  const status = { phase: 'Ready' };
  const identity = { namespace: 'A', name: '1', uid: 'u' };
  const rows: readonly (readonly [string, Partial<UpdateControl<Widget>>, readonly object[]])[] = [
    [
      'sends the difference, with the version that it was computed from',
      {},
      [{ verb: 'merge', key, sub: 'status', lock: true, body: { metadata: version, status } }],
    ],
    [
      'sends it without a version when it is not to be locked',
      { lock: false },
      [{ verb: 'merge', key, sub: 'status', lock: false, body: { status } }],
    ],
    [
      'sends it as a JSON patch',
      { strategy: 'json' },
      [
        {
          verb: 'json',
          key,
          sub: 'status',
          lock: true,
          ops: [
            { op: 'test', path: '/metadata/resourceVersion', value: '7' },
            { op: 'replace', path: '/status/phase', value: 'Ready' },
          ],
        },
      ],
    ],
    [
      'sends it as a JSON patch without a test',
      { strategy: 'json', lock: false },
      [
        {
          verb: 'json',
          key,
          sub: 'status',
          lock: false,
          ops: [{ op: 'replace', path: '/status/phase', value: 'Ready' }],
        },
      ],
    ],
    [
      'replaces it',
      { strategy: 'replace' },
      [
        {
          verb: 'replace',
          sub: 'status',
          lock: true,
          object: { ...changed(), metadata: { ...identity, ...version } },
        },
      ],
    ],
    [
      'replaces it whatever the version',
      { strategy: 'replace', lock: false },
      [{ verb: 'replace', sub: 'status', lock: false, object: { ...changed(), metadata: identity } }],
    ],
    [
      'applies it and nothing else',
      { strategy: 'apply' },
      [
        {
          verb: 'apply',
          sub: 'status',
          lock: true,
          manager: 'me',
          force: true,
          object: {
            apiVersion: 'example.io/v1',
            kind: 'Widget',
            status,
            metadata: { ...identity, ...version },
          },
        },
      ],
    ],
  ];
  for (const [title, how, expected] of rows)
    it(title, async () => {
      const control = { write: 'status', object: changed(), ...how } as UpdateControl<Widget>;
      expect(await sent(control)).to.deep.equal(expected);
    });

  it('sends nothing when only the rest of the object differs', async () => {
    const { writes, ports } = stage();
    const object = changed({ status: { phase: 'New' } });
    expect(await applyUpdate({ write: 'status', object }, base, ports)).to.equal(base);
    expect(writes).to.deep.equal([]);
  });

  it('notes the generation in it', async () => {
    const [write] = await sent({ write: 'status', object: changed() }, { observed: 3 });
    expect(write).to.have.deep.nested.property('body.status', { phase: 'Ready', observedGeneration: 3 });
  });

  it('notes the generation even if nothing else differs', async () => {
    const object = changed({ status: { phase: 'New' } });
    const [write] = await sent({ write: 'status', object }, { observed: 3 });
    expect(write).to.have.deep.nested.property('body.status', { observedGeneration: 3 });
  });

  it('takes a missing status for an empty one', async () => {
    const { status: _, ...none } = base;
    const { writes, ports } = stage();
    const { status: __, ...without } = changed();
    expect(await writeStatus(without, none, { version: '7' }, ports)).to.equal(none);
    await writeStatus(changed(), none, { version: '7', strategy: 'json' }, ports);
    expect(writes[0]).to.have.deep.property('ops', [
      { op: 'test', path: '/metadata/resourceVersion', value: '7' },
      { op: 'add', path: '/status', value: { phase: 'Ready' } },
    ]);
  });

  it('names a cluster-scoped object without a uid by its name alone', async () => {
    const object = { ...changed(), metadata: { name: '1' } };
    const { writes, ports } = stage();
    await writeStatus(
      object,
      { ...base, metadata: { name: '1' } },
      { version: undefined, strategy: 'replace' },
      ports,
    );
    expect(writes[0]).to.have.deep.nested.property('object.metadata', { name: '1' });
  });
});

describe('a reconcile that writes both', () => {
  it('writes the resource first, and the status on top of the answer', async () => {
    expect(await sent({ write: 'both', object: changed() })).to.deep.equal([
      { verb: 'merge', key, lock: true, body: { spec: { size: 2 }, metadata: version } },
      {
        verb: 'merge',
        key,
        sub: 'status',
        lock: true,
        body: { metadata: { resourceVersion: '8' }, status: { phase: 'Ready' } },
      },
    ]);
  });

  it('uses its strategy for both', async () => {
    const writes = await sent({ write: 'both', object: changed(), strategy: 'replace' });
    expect(writes.map((write) => (write as Write).verb)).to.deep.equal(['replace', 'replace']);
  });
});

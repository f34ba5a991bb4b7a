import { expect } from 'chai';
import {
  dropLastApplied,
  dropManagedFields,
  keepAppliedBy,
  pipe,
  keepFields,
} from '../../../src/runtime/cache/transforms.ts';
import { settle } from '../../support/clock.ts';
import { thing } from '../../support/scripted-api.ts';
import { harness } from './harness.ts';

const KUBECTL = 'kubectl.kubernetes.io/last-applied-configuration';
const full = () => ({
  ...thing('a', { annotations: { [KUBECTL]: '{}', own: 'yes' }, spec: { big: ['x'], size: 1 } }),
  status: { phase: 'Ready', job: { id: 'j', log: 'long' } },
});

describe('RUN-C6: transforms', () => {
  it('drop the annotation of kubectl apply, and nothing else', () => {
    const { annotations } = dropLastApplied(full()).metadata;
    expect(annotations).to.deep.equal({ own: 'yes' });
    expect(dropLastApplied(thing('b')).metadata.annotations).to.equal(undefined);
  });

  it('keep the managed fields that one manager has applied', () => {
    const entry = (manager: string, operation: string) => ({ manager, operation });
    const [mine, updated, other] = [entry('m', 'Apply'), entry('m', 'Update'), entry('n', 'Apply')];
    const kept = keepAppliedBy('m')(thing('a', { managedFields: [updated, mine, other] }));
    expect(kept.metadata.managedFields).to.deep.equal([mine]);
    expect(keepAppliedBy('m')(thing('a')).metadata.managedFields).to.deep.equal([]);
    expect(keepAppliedBy('m')).to.equal(keepAppliedBy('m'));
    expect(keepAppliedBy('m')).not.to.equal(keepAppliedBy('n'));
  });

  const shown: readonly (readonly [string, Parameters<typeof harness>[0], boolean])[] = [
    ['if they drop all', {}, false],
    ['if they keep those of another manager', { transform: keepAppliedBy('n') }, false],
    ['if only metadata is kept', { transform: keepAppliedBy('m'), metadataOnly: true }, false],
    ['if they keep those of the manager', { transform: keepAppliedBy('m') }, true],
    ['if they keep everything', { transform: (obj) => obj }, true],
    [
      'unless they cannot be applied to an object of another kind',
      {
        transform: (obj) => {
          if (obj.kind !== 'Thing') throw new Error('not a Thing');
          return obj;
        },
      },
      true,
    ],
  ];
  for (const [title, options, expected] of shown)
    it(`${expected ? 'may show' : 'do not show'} managed fields ${title}`, () => {
      expect(harness(options).cache.showsFieldsOf('m')).to.equal(expected);
    });

  it('keep the named fields, at any depth', () => {
    const kept = keepFields('status.phase', 'status.job.id', 'spec.size', 'spec.none', 'data')(full());
    const { metadata, ...rest } = kept as unknown as Record<string, unknown>;
    expect(rest).to.deep.equal({
      apiVersion: 'example.io/v1',
      kind: 'Thing',
      spec: { size: 1 },
      status: { phase: 'Ready', job: { id: 'j' } },
    });
    expect(metadata).to.have.property('name', 'a');
  });

  it('keep a field that is named as a whole, whatever else is named in it', () => {
    for (const paths of [
      ['status', 'status.phase'],
      ['status.phase', 'status'],
    ]) {
      const kept = keepFields(...paths)(full()) as unknown as { status: object };
      expect(kept.status, paths.join()).to.deep.equal(full().status);
    }
  });

  it('work one after the other', () => {
    const object = full();
    object.metadata.managedFields = [{}];
    const { metadata } = pipe(dropManagedFields, dropLastApplied)(object);
    expect(metadata.managedFields).to.equal(undefined);
    expect(metadata.annotations).to.deep.equal({ own: 'yes' });
  });

  it('run once for watched objects, and for responses to own writes', async () => {
    let asked = 0;
    const { api, cache, start } = harness({
      transform: (obj) => {
        asked++;
        return keepFields('spec.size')(obj);
      },
    });
    api.put(thing('a', { spec: { size: 1, big: 'x' } }));
    await start();
    expect(asked).to.equal(1);
    api.isHeld = true;
    cache.begin('ns/a', 'me').done(api.put(thing('a', { spec: { size: 2, big: 'x' } })), true);
    expect(cache.get('ns/a')).to.have.deep.property('spec', { size: 2 });
    api.release();
    await settle();
    expect(cache.get('ns/a')).to.have.deep.property('spec', { size: 2 });
    expect(asked).to.equal(3);
  });
});

/** Which objects `espalier apply` sends at the same time, and what a failure leaves. */
import { expect } from 'chai';
import { batchesOf, eachAtOnce } from '../../../../src/cli/commands/apply/in-batches.ts';
import type { PlannedObject } from '../../../../src/cli/commands/apply/resolve.ts';
import type { Obj } from '../../../../src/runtime/types.ts';
import { exporting, importing, installation } from '../given.ts';

const planned = (object: unknown): PlannedObject => ({ object }) as PlannedObject;
const configMap = (name: string): Obj => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
const namesOf = (...objects: readonly unknown[]): readonly (readonly string[])[] =>
  batchesOf(objects.map(planned)).map((batch) => batch.map(({ object }) => object.metadata.name));

describe('the batches of an apply', () => {
  it('contain objects of one rank', () => {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } };
    expect(
      namesOf(namespace, configMap('a'), configMap('b'), installation('x'), installation('y')),
    ).to.deep.equal([['n'], ['a', 'b'], ['x', 'y']]);
  });

  it('separate installations from those that import from them', () => {
    const [db, web] = [installation('db', { spec: exporting }), installation('web', { spec: importing })];
    expect(namesOf(db, installation('other'), web, installation('more'))).to.deep.equal([
      ['db', 'other'],
      ['web', 'more'],
    ]);
  });

  it('do not separate installations of different namespaces', () => {
    const web = installation('web', { spec: importing });
    const elsewhere = { ...web, metadata: { ...web.metadata, namespace: 'other' } };
    expect(namesOf(installation('db', { spec: exporting }), elsewhere)).to.have.length(1);
  });
});

describe('work on many objects', () => {
  const items = Array.from({ length: 40 }, (_, i) => i);

  it('is done for 16 at a time, and reported in their order', async () => {
    let [running, most] = [0, 0];
    const waiting: (() => void)[] = [];
    const reported: number[] = [];
    const work = async (item: number): Promise<number> => {
      most = Math.max(most, ++running);
      await new Promise<void>((resolve) => waiting.push(resolve));
      running--;
      return item;
    };
    const all = eachAtOnce(items, work, (item) => reported.push(item));
    for (const _ of items) {
      await new Promise((resolve) => setImmediate(resolve));
      waiting.pop()?.(); // the newest first
    }
    expect(await all).to.deep.equal({ results: items, failure: undefined });
    expect([most, reported]).to.deep.equal([16, items]);
  });

  it('ends after a failure with what has started', async () => {
    const started: number[] = [];
    const reported: number[] = [];
    const error = new Error('no');
    const work = async (item: number): Promise<number> => {
      started.push(item);
      await Promise.resolve();
      if (item === 3 || item === 5) throw error;
      return item;
    };
    const { results, failure } = await eachAtOnce(items, work, (item) => reported.push(item));
    expect(failure).to.deep.equal({ item: 3, error });
    expect(started.length).to.be.lessThan(items.length);
    expect(results).to.deep.equal(started.filter((item) => item !== 3 && item !== 5));
    expect(reported).to.deep.equal(results);
  });
});

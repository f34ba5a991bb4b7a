/** The requests by which dependents write to a cluster. */
import { expect } from 'chai';
import { apiErrorFrom } from '../../../src/runtime/errors.ts';
import type { Obj, Write } from '../../../src/runtime/types.ts';
import {
  accessTo,
  isConflict,
  sendCreate,
  sendDelete,
  sendUpdate,
  type SendOptions,
  type Strategy,
} from '../../../src/workflow/access.ts';
import { FakeClock } from '../../support/clock.ts';
import { FakeCluster } from '../runtime/support/fake-cluster.ts';
import { parts, type Part } from '../runtime/support/world.ts';
import { contextOn } from './support.ts';

const { signal } = new AbortController();
const part = (metadata: object = {}): Part => ({
  apiVersion: 'example.io/v1',
  kind: 'Part',
  metadata: { namespace: 'ns', name: 'p', ...metadata },
});
const actual = part({ uid: 'u', resourceVersion: '7', labels: { theirs: '1' } });
const refused = (status: number, reason: string) =>
  apiErrorFrom(status, { reason }, { verb: 'x', kind: 'Part' });

/** A cluster that answers all writes, or rejects them, and stores `live`. */
function cluster({ refusal, live }: { readonly refusal?: Error; readonly live?: Part } = {}) {
  const writes: Write[] = [];
  const reads: string[] = [];
  const how = (strategy: Strategy): SendOptions<Part> => ({
    kind: parts,
    strategy,
    manager: 'me',
    signal,
    access: {
      live: {
        get(_kind, key) {
          reads.push(key);
          return live ? Promise.resolve(live as never) : Promise.reject(refused(404, 'NotFound'));
        },
        list: () => expect.fail('nothing is listed'),
      },
      write(write, given) {
        expect(given).to.equal(signal);
        writes.push(write);
        return refusal ? Promise.reject(refusal) : Promise.resolve(part() as never);
      },
    },
  });
  return { writes, reads, how };
}

describe('a creation', () => {
  it('is an apply that conflicts with any existing object of the name', async () => {
    const { writes, how } = cluster();
    await sendCreate(part({ labels: { a: '1' } }), how('apply'));
    const object = part({ labels: { a: '1' }, resourceVersion: '1' });
    expect(writes).to.deep.equal([{ verb: 'apply', kind: parts, object, manager: 'me', force: true }]);
  });
  it('is a create if apply is not used', async () => {
    const { writes, how } = cluster();
    await sendCreate(part(), how('replace'));
    expect(writes).to.deep.equal([{ verb: 'create', kind: parts, object: part() }]);
  });
});

describe('an update', () => {
  const applied = async (metadata: object, wish: object = {}) => {
    const { writes, how } = cluster();
    await sendUpdate(part(metadata), part(wish), how('apply'));
    const [write] = writes;
    return write && 'object' in write ? write.object.metadata : undefined;
  };
  for (const [title, metadata, wish, expected] of [
    [
      'sends uid and version of the object that was compared',
      { uid: 'u', resourceVersion: '7' },
      {},
      { uid: 'u', resourceVersion: '7' },
    ],
    ['sends no uid if the object has none', { resourceVersion: '7' }, {}, { resourceVersion: '7' }],
    ['sends no version if the object has none', { uid: 'u' }, {}, { uid: 'u' }],
    ['sends no managed fields, which the server rejects', { uid: 'u' }, { managedFields: [] }, { uid: 'u' }],
  ] as const) {
    it(`by apply ${title}`, async () => {
      expect(await applied(metadata, wish)).to.deep.equal({ namespace: 'ns', name: 'p', ...expected });
    });
  }
  it('by apply does not change the desired object', async () => {
    const wish = part({ managedFields: [] });
    await sendUpdate(actual, wish, cluster().how('apply'));
    expect(wish).to.deep.equal(part({ managedFields: [] }));
  });
  it('by replacement sends the whole object', async () => {
    const { writes, how } = cluster();
    await sendUpdate(actual, part({ labels: { ours: '1' } }), how('replace'));
    const labels = { theirs: '1', ours: '1' };
    expect(writes).to.deep.equal([
      { verb: 'replace', kind: parts, object: part({ uid: 'u', resourceVersion: '7', labels }) },
    ]);
  });
});

describe('a deletion', () => {
  const conflict = refused(409, 'Conflict');
  const outcome = async (from: Part, given: Parameters<typeof cluster>[0]) => {
    const { reads, writes, how } = cluster(given);
    const result = await sendDelete(from, how('apply')).catch((error: unknown) => error);
    return { result, reads, writes };
  };
  const write = { verb: 'delete', kind: parts, key: 'ns/p', propagation: 'Background' };

  it('sends the uid of the object', async () => {
    const { result, writes } = await outcome(actual, {});
    expect(result).to.equal(true);
    expect(writes).to.deep.equal([{ ...write, uid: 'u' }]);
  });
  it('sends no uid if the object has none', async () => {
    expect((await outcome(part(), {})).writes).to.deep.equal([write]);
  });
  for (const [title, from, given, expected, reads] of [
    ['finds that the object is gone', actual, { refusal: refused(404, 'NotFound') }, false, []],
    [
      'finds that another object has replaced it',
      actual,
      { refusal: conflict, live: part({ uid: 'v' }) },
      false,
      ['ns/p'],
    ],
    ['finds by a second read that it is gone', actual, { refusal: conflict }, false, ['ns/p']],
    [
      'fails if the conflict is about the object itself',
      actual,
      { refusal: conflict, live: actual },
      conflict,
      ['ns/p'],
    ],
    ['fails with a conflict about an object without a uid', part(), { refusal: conflict }, conflict, []],
  ] as const) {
    it(title, async () => {
      const { result, reads: looked } = await outcome(from, given);
      expect([result, looked]).to.deep.equal([expected, reads]);
    });
  }
  it('fails with any other rejection', async () => {
    const refusal = refused(403, 'Forbidden');
    expect(await outcome(actual, { refusal })).to.include({ result: refusal });
  });
});

describe('the cluster of a dependent', () => {
  it('is that of the controller, through its caches, unless there is a client', () => {
    const ctx = contextOn(new FakeClock());
    expect(accessTo(ctx, undefined)).to.equal(ctx);
  });
  it('is that of its client, whose requests end with the reconcile', async () => {
    const signals: (AbortSignal | undefined)[] = [];
    class Noting extends FakeCluster {
      override send<T extends Obj>(write: Write<T>, given?: AbortSignal): Promise<T> {
        signals.push(given);
        return super.send(write, given);
      }
    }
    const client = new Noting();
    const ctx = contextOn(new FakeClock());
    const { live, write } = accessTo(ctx, client);
    expect(live).to.equal(client);
    await write({ verb: 'create', kind: parts, object: part() });
    await write({ verb: 'delete', kind: parts, key: 'ns/p' }, signal);
    expect(signals).to.deep.equal([ctx.signal, signal]);
  });
});

describe('a conflict', () => {
  for (const [error, expected] of [
    [refused(409, 'Conflict'), true],
    [refused(409, 'AlreadyExists'), true],
    [refused(404, 'NotFound'), false],
    [new Error('no'), false],
  ] as const) {
    it(`is ${expected ? '' : 'not '}${error.name}`, () => {
      expect(isConflict(error)).to.equal(expected);
    });
  }
});

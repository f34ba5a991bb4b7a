/** The names that commands accept: those of objects, and those that commands print. */
import { expect } from 'chai';
import { located } from '../../../src/cli/named-objects.ts';
import { NotFound } from '../../../src/runtime/errors.ts';
import type { Client, Obj } from '../../../src/runtime/types.ts';
import { installation, item } from './given.ts';

const objects: readonly Obj[] = [
  installation('platform'),
  installation('users-8k', { parent: 'platform', template: 'users' }),
  installation('store-2x', { parent: 'users-8k', template: 'store' }),
  item('store-2x-server-y2', { execution: 'store-2x', template: 'server' }),
];

let requests = 0;
const client = {
  get: (kind: { kind: string }, key: string) => {
    requests++;
    const found = objects.find(
      (one) => one.kind === kind.kind && `${one.metadata.namespace ?? ''}/${one.metadata.name}` === key,
    );
    if (found) return Promise.resolve(found);
    return Promise.reject(
      new NotFound({ message: 'no', status: 404, reason: 'NotFound', ref: { verb: 'get', kind: kind.kind } }),
    );
  },
  async *list(kind: { kind: string }, { namespace }: { namespace?: string }) {
    requests++;
    yield await Promise.resolve({
      items: objects.filter((one) => one.kind === kind.kind && one.metadata.namespace === namespace),
    });
  },
} as unknown as Client;

const name = (printed: string, namespace = 'proj', kinds?: 'installations and deploy items') =>
  located(printed, { client, namespace }, kinds).then(
    (found) => `${found.namespace} ${found.name}`,
    (error: unknown) => (error as Error).message,
  );
const ITEMS = 'installations and deploy items';

describe('a name on the command line', () => {
  it('is that of an object, which is not looked up', async () => {
    requests = 0;
    expect(await name('nothing')).to.equal('proj nothing');
    expect(requests).to.equal(0);
  });

  const paths: readonly (readonly [string, string])[] = [
    ['platform/users', 'proj users-8k'],
    ['platform/users/store', 'proj store-2x'],
    ['platform/users-8k/store', 'proj store-2x'],
    ['users-8k/store', 'proj store-2x'],
  ];
  for (const [printed, expected] of paths)
    it(`may be the path ${printed}`, async () => {
      expect(await name(printed)).to.equal(expected);
    });

  it('may end in a deploy item where commands accept them', async () => {
    expect(await name('platform/users/store/server', 'proj', ITEMS)).to.equal('proj store-2x-server-y2');
    expect(await name('platform/users/store/server')).to.match(/no "server" below installation store-2x/);
  });

  it('may have its namespace before it', async () => {
    expect(await name('proj/users-8k', 'other')).to.equal('proj users-8k');
    expect(await name('proj/store-2x-server-y2', 'other', ITEMS)).to.equal('proj store-2x-server-y2');
    expect(await name('proj/store-2x-server-y2', 'other')).to.match(/^there is no installation proj in/);
  });

  it('that does not exist is reported with the part that is wrong', async () => {
    expect(await name('platform/usres')).to.equal(
      'there is no "usres" below installation platform; did you mean users?',
    );
    expect(await name('platform/users/store/x/y')).to.match(/"x" below .*; it has no sub-installations$/);
    expect(await name('nope/users')).to.match(
      /^there is no installation nope in namespace proj, and no installation nope\/users; /,
    );
    expect(await name('a/b/c')).to.match(/^there is no installation a in namespace proj/);
  });
});

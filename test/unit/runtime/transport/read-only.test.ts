import { expect } from 'chai';
import { apiErrorFrom, DefinitionError } from '../../../../src/runtime/errors.ts';
import { getIfThere } from '../../../../src/runtime/transport/read.ts';
import { readOnly } from '../../../../src/runtime/transport/read-only.ts';
import type { Client } from '../../../../src/runtime/types.ts';
import { widgets } from '../support/world.ts';

describe('a read-only client', () => {
  const { signal } = new AbortController();
  const create = () => {
    const calls: unknown[] = [];
    const noting =
      (verb: string) =>
      (...args: readonly unknown[]): unknown => {
        calls.push([verb, ...args]);
        return `answer to ${verb}`;
      };
    const inner = Object.fromEntries(
      ['get', 'list', 'watch', 'send', 'raw', 'close'].map((verb) => [verb, noting(verb)]),
    ) as unknown as Client;
    return { client: readOnly(inner), calls };
  };

  it('reads, watches and closes as any other', () => {
    const { client, calls } = create();
    const answers: unknown[] = [
      client.get(widgets, 'A/1', signal),
      client.list(widgets, { labels: 'a' }, signal),
      client.watch(widgets, { labels: 'a' }, signal),
      client.close(),
    ];
    expect(answers).to.deep.equal(['get', 'list', 'watch', 'close'].map((verb) => `answer to ${verb}`));
    expect(calls).to.deep.equal([
      ['get', widgets, 'A/1', signal],
      ['list', widgets, { labels: 'a' }, signal],
      ['watch', widgets, { labels: 'a' }, signal],
      ['close'],
    ]);
  });

  it('sends writes as dry runs', () => {
    const { client, calls } = create();
    const write = { verb: 'merge', kind: widgets, key: 'A/1', body: { a: 1 } } as const;
    void client.send(write, signal);
    expect(calls).to.deep.equal([['send', { ...write, isDryRun: true }, signal]]);
  });

  for (const method of ['GET', 'HEAD'])
    it(`lets a ${method} of any path through`, async () => {
      const { client, calls } = create();
      expect(await client.raw(method, '/x', undefined, signal)).to.equal('answer to raw');
      expect(calls).to.deep.equal([['raw', method, '/x', undefined, signal]]);
    });

  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
    it(`refuses a ${method} of any path`, async () => {
      const { client, calls } = create();
      const error: unknown = await client.raw(method, '/x').catch((thrown: unknown) => thrown);
      expect(error)
        .to.be.instanceOf(DefinitionError)
        .with.property('message', `${method} /x is a write, but this client is read-only`);
      expect(calls).to.deep.equal([]);
    });
});

describe('a read of an object that may be missing', () => {
  const { signal } = new AbortController();
  const missing = apiErrorFrom(404, {}, { verb: 'get', kind: 'Widget' });
  const refused = apiErrorFrom(403, {}, { verb: 'get', kind: 'Widget' });
  const object = { apiVersion: 'v1', kind: 'Widget', metadata: { name: '1' } };
  const rows: readonly (readonly [string, unknown, unknown])[] = [
    ['finds it', object, object],
    ['finds nothing', missing, undefined],
    ['fails when it is refused', refused, refused],
  ];
  for (const [title, answer, expected] of rows)
    it(title, async () => {
      const asked: unknown[] = [];
      const client = {
        get: (...args: readonly unknown[]) => {
          asked.push(args);
          return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
        },
      } as unknown as Client;
      const outcome: unknown = await getIfThere(client, widgets, 'A/1', signal).catch(
        (error: unknown) => error,
      );
      expect([outcome, asked]).to.deep.equal([expected, [[widgets, 'A/1', signal]]]);
    });
});

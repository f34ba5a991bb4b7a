import { expect } from 'chai';
import { createWriter } from '../../../../src/runtime/controller/writer.ts';
import { apiErrorFrom, ShutdownError } from '../../../../src/runtime/errors.ts';
import type { Caches, Client, Kind, Obj, Write } from '../../../../src/runtime/types.ts';
import { parts, widgets } from '../support/world.ts';

const at = (resourceVersion: string, more: object = {}): Obj => ({
  apiVersion: 'example.io/v1',
  kind: 'Widget',
  metadata: { namespace: 'A', name: '1', resourceVersion, ...more },
});

/** A writer on two caches of widgets and one of parts, whose server answers `answer`. */
function stage(answer: Obj | Error, fence: () => void = () => undefined, cached?: string) {
  const story: unknown[] = [];
  const cache = (name: string, kind: Kind) => ({
    kind,
    isSynced: cached !== undefined,
    peek: () => undefined,
    versionOf: () => cached || undefined,
    begin(key: string, writer: string) {
      story.push(`${name} begins ${key} for ${writer}`);
      return {
        done: (object: Obj, isOurs: boolean) => {
          story.push(`${name} done ${object.metadata.resourceVersion ?? ''} ${isOurs ? 'ours' : 'maybe'}`);
        },
        failed: () => story.push(`${name} failed`),
      };
    },
  });
  const caches = {
    all: () => [cache('first', widgets), cache('second', widgets), cache('parts', parts)],
  } as unknown as Caches;
  const sent: Write[] = [];
  let refusal: Error | undefined;
  const client = {
    send(write: Write, signal?: AbortSignal) {
      sent.push(write);
      if (sent.length === 1 && refusal) return Promise.reject(refusal);
      story.push(signal ? `sent, ${String(signal.reason ?? 'live')}` : 'sent');
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
  } as unknown as Client;
  const refuse = (error: Error): void => {
    refusal = error;
  };
  return { story, sent, refuse, ports: { client, caches, fence, name: 'me' } };
}

describe('the writer of a controller', () => {
  const body = { metadata: { resourceVersion: '7' } };
  const merge = { verb: 'merge', kind: widgets, key: 'A/1', body } as const;

  it('tells all caches of the kind before and after', async () => {
    const { story, ports } = stage(at('8'));
    expect(await createWriter(ports)(merge)).to.deep.equal(at('8'));
    expect(story).to.deep.equal([
      'first begins A/1 for me',
      'second begins A/1 for me',
      'sent',
      'first done 8 ours',
      'second done 8 ours',
    ]);
  });

  it('tells them that a write failed', async () => {
    const failure = new Error('no');
    const { story, ports } = stage(failure);
    expect(await createWriter(ports)(merge).catch((error: unknown) => error)).to.equal(failure);
    expect(story.slice(2)).to.deep.equal(['sent', 'first failed', 'second failed']);
  });

  it('sends nothing past the fence', async () => {
    const { story, ports } = stage(at('8'), () => {
      throw new ShutdownError({ message: 'stopping' });
    });
    const error: unknown = await createWriter(ports)(merge).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ShutdownError);
    expect(story).to.deep.equal([]);
  });

  for (const [title, own, life, expected] of [
    ['its own signal', AbortSignal.abort('own'), AbortSignal.abort('life'), 'sent, own'],
    ['the signal of the run', undefined, AbortSignal.abort('life'), 'sent, life'],
    ['no signal', undefined, undefined, 'sent'],
  ] as const)
    it(`sends a write with ${title}`, async () => {
      const { story, ports } = stage(at('8'));
      await createWriter(ports, life && { signal: life })(merge, own);
      expect(story).to.include(expected);
    });

  const rows: readonly (readonly [string, Write, Obj, 'ours' | 'maybe'])[] = [
    ['a create', { verb: 'create', kind: widgets, object: at('') }, at('8'), 'ours'],
    ['a replace with a version', { verb: 'replace', kind: widgets, object: at('7') }, at('8'), 'ours'],
    [
      'a replace without a version',
      { verb: 'replace', kind: widgets, object: { ...at(''), metadata: { namespace: 'A', name: '1' } } },
      at('8'),
      'maybe',
    ],
    [
      'an apply with a version',
      { verb: 'apply', kind: widgets, object: at('7'), manager: 'me', force: true },
      at('8'),
      'ours',
    ],
    [
      'an apply without a version',
      {
        verb: 'apply',
        kind: widgets,
        manager: 'me',
        force: true,
        object: { ...at(''), metadata: { namespace: 'A', name: '1' } },
      },
      at('8'),
      'maybe',
    ],
    ['a merge without a version', { ...merge, body: { metadata: {} } }, at('8'), 'maybe'],
    ['a merge without metadata', { ...merge, body: {} }, at('8'), 'maybe'],
    ['a locked merge without a version', { ...merge, body: {}, lock: true }, at('8'), 'ours'],
    ['a JSON patch', { verb: 'json', kind: widgets, key: 'A/1', ops: [] }, at('8'), 'maybe'],
    [
      'a locked JSON patch',
      { verb: 'json', kind: widgets, key: 'A/1', ops: [], lock: true },
      at('8'),
      'ours',
    ],
    ['a merge that changed nothing', merge, at('7'), 'maybe'],
    ['a replace that changed nothing', { verb: 'replace', kind: widgets, object: at('7') }, at('7'), 'maybe'],
    [
      'a delete that waits for finalizers',
      { verb: 'delete', kind: widgets, key: 'A/1' },
      at('8', { deletionTimestamp: 'now' }),
      'maybe',
    ],
  ];
  for (const [title, write, answer, expected] of rows)
    it(`says whose version the answer has: ${title}`, async () => {
      const { story, ports } = stage(answer);
      await createWriter(ports)(write);
      const version = answer.metadata.resourceVersion ?? '';
      expect(story.slice(3)).to.deep.equal([
        `first done ${version} ${expected}`,
        `second done ${version} ${expected}`,
      ]);
    });

  const status = { apiVersion: 'v1', kind: 'Status' } as unknown as Obj;
  for (const [title, answer] of [
    ['a status', status],
    ['the object', at('8')],
  ] as const)
    it(`knows nothing newer after a delete that answers with ${title}`, async () => {
      const { story, ports } = stage(answer);
      expect(await createWriter(ports)({ verb: 'delete', kind: widgets, key: 'A/1' })).to.equal(answer);
      expect(story.slice(3)).to.deep.equal(['first failed', 'second failed']);
    });

  it('learns a generated name from the answer', async () => {
    const { story, ports } = stage(at('8', { name: 'w-x1' }));
    const object: Obj = {
      ...at(''),
      metadata: { namespace: 'A', generateName: 'w-' } as unknown as Obj['metadata'],
    };
    await createWriter(ports)({ verb: 'create', kind: widgets, object });
    expect(story).to.deep.equal([
      'sent',
      'first begins A/w-x1 for me',
      'second begins A/w-x1 for me',
      'first done 8 ours',
      'second done 8 ours',
    ]);
  });

  describe('without a version', () => {
    const unversioned: Obj = {
      apiVersion: 'example.io/v1',
      kind: 'Widget',
      metadata: { namespace: 'A', name: '1' },
    };
    const apply: Write = { verb: 'apply', kind: widgets, object: unversioned, manager: 'me', force: true };
    const rowsOf: readonly (readonly [string, Write])[] = [
      ['an apply', apply],
      ['a replace', { verb: 'replace', kind: widgets, object: unversioned }],
      ['a merge', { ...merge, body: { spec: {} } }],
      ['a JSON patch', { verb: 'json', kind: widgets, key: 'A/1', ops: [] }],
    ];
    for (const [title, write] of rowsOf)
      it(`sends ${title} with the version of the cache, so that its answer is recognised as ours`, async () => {
        const { story, sent, ports } = stage(at('8'), undefined, '7');
        await createWriter(ports)(write);
        expect(story).to.include('first done 8 ours');
        expect(JSON.stringify(sent)).to.include('"7"');
        expect(sent).to.have.length(1);
      });

    it('sends it as it is if the version of the cache is outdated', async () => {
      const { story, sent, refuse, ports } = stage(at('9'), undefined, '7');
      refuse(apiErrorFrom(409, { reason: 'Conflict' }, { verb: 'patch', kind: 'Widget' }));
      await createWriter(ports)(apply);
      expect(sent.at(-1)).to.equal(apply);
      expect(story).to.include('first done 9 maybe');
    });

    it('applies a new object so that it cannot be one of another client', async () => {
      const { story, sent, ports } = stage(at('8'), undefined, '');
      await createWriter(ports)(apply);
      expect(sent).to.deep.equal([
        { ...apply, object: { ...unversioned, metadata: { ...unversioned.metadata, resourceVersion: '1' } } },
      ]);
      expect(story).to.include('first done 8 ours');
    });

    it('recognises nothing as ours that changed nothing', async () => {
      const { story, ports } = stage(at('7'), undefined, '7');
      await createWriter(ports)(apply);
      expect(story).to.include('first done 7 maybe');
    });

    it('leaves a write alone that must not be conditional', async () => {
      const { sent, ports } = stage(at('8'), undefined, '7');
      const write = { ...merge, body: {}, lock: false };
      await createWriter(ports)(write);
      expect(sent).to.deep.equal([write]);
    });
  });
});

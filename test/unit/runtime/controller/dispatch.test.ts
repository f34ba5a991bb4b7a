/** One dispatch: from a primary to its result, by whom it is worked on and what goes wrong. */
import { expect } from 'chai';
import { dispatch, type Dispatched } from '../../../../src/runtime/controller/dispatch.ts';
import { settingsOf, type ControllerSpec, type Reconciler } from '../../../../src/runtime/controller/spec.ts';
import { apiErrorFrom, NoRetryError } from '../../../../src/runtime/errors.ts';
import type { ControllerMetrics } from '../../../../src/observability/controller-metrics.ts';
import type {
  Cache,
  Client,
  Context,
  ErrorControl,
  UpdateControl,
  View,
  Write,
} from '../../../../src/runtime/types.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';
import { nothing, widgets, type Widget } from '../support/world.ts';

const OURS = 'widgets.example.io/finalizer';
const primaryOf = (more: object = {}): View<Widget> => ({
  apiVersion: 'example.io/v1',
  kind: 'Widget',
  spec: { size: 1 },
  metadata: { namespace: 'A', name: '1', uid: 'u', resourceVersion: '7', generation: 3, ...more },
});
const deleting = (more: object = {}): View<Widget> => primaryOf({ deletionTimestamp: 'now', ...more });

interface Given {
  readonly primary?: View<Widget>;
  readonly reconciler?: Partial<Reconciler<Widget>>;
  readonly spec?: Partial<ControllerSpec<Widget>>;
  /** What the cache has when it is asked. */
  readonly cached?: View<Widget>;
  /** What the server answers to writes. */
  readonly refusal?: Error;
}

async function run(given: Given) {
  const primary = given.primary ?? primaryOf();
  const calls: string[] = [];
  const writes: Write[] = [];
  let panics = 0;
  const { log, lines } = recordingLogger();
  const reconciler: Reconciler<Widget> = {
    reconcile: () => {
      calls.push('reconcile');
      return Promise.resolve(nothing);
    },
    ...given.reconciler,
  };
  const settings = settingsOf<Widget>({ name: 'w', kind: widgets, reconciler, ...given.spec });
  const write = (each: Write): Promise<unknown> => {
    writes.push(each);
    if (given.refusal) return Promise.reject(given.refusal);
    return Promise.resolve({ ...primary, metadata: { ...primary.metadata, resourceVersion: '8' } });
  };
  const ctx = { key: 'A/1', signal: new AbortController().signal, log, write } as unknown as Context<Widget>;
  const missing = apiErrorFrom(404, {}, { verb: 'get', kind: 'Widget' });
  const outcome: Dispatched = await dispatch(primary, ctx, {
    settings,
    key: 'A/1',
    client: { get: () => Promise.reject(missing) } as unknown as Client,
    cache: { get: () => given.cached } as unknown as Cache<Widget>,
    metrics: { panic: () => panics++ } as unknown as ControllerMetrics,
  });
  return { outcome, calls, writes, lines, panics };
}

const cleanup = () => Promise.resolve({ finalizer: 'remove' } as const);
const success: Dispatched = { type: 'ran', isHandled: false, result: { ok: true } };

describe('a dispatch, by the finalizer', () => {
  const rows: readonly (readonly [string, Given, Dispatched['type'], readonly string[], number])[] = [
    ['reconciles an object without one if none is kept', {}, 'ran', ['reconcile'], 0],
    ['leaves a deleted object alone if none is kept', { primary: deleting() }, 'idle', [], 0],
    ['adds a missing one and comes back', { reconciler: { cleanup } }, 'prepared', [], 1],
    [
      'reconciles an object that has it',
      { reconciler: { cleanup }, primary: primaryOf({ finalizers: [OURS] }) },
      ...(['ran', ['reconcile'], 0] as const),
    ],
    [
      'leaves a deleted object alone that does not have it',
      { reconciler: { cleanup }, primary: deleting({ finalizers: ['x'] }) },
      ...(['idle', [], 0] as const),
    ],
    [
      'cleans up a deleted object that has it',
      { reconciler: { cleanup }, primary: deleting({ finalizers: [OURS] }) },
      ...(['ran', [], 1] as const),
    ],
    [
      'reconciles a deleted object if the author handles it',
      { spec: { finalizer: { handledBy: 'reconciler' } }, primary: deleting() },
      ...(['ran', ['reconcile'], 0] as const),
    ],
  ];
  for (const [title, given, type, calls, writes] of rows)
    it(title, async () => {
      const got = await run(given);
      expect([got.outcome.type, got.calls, got.writes.length]).to.deep.equal([type, calls, writes]);
    });

  it('is idle when the object has gone before the finalizer was on', async () => {
    const refusal = apiErrorFrom(404, {}, { verb: 'patch', kind: 'Widget' });
    expect((await run({ reconciler: { cleanup }, refusal })).outcome).to.deep.equal({ type: 'idle' });
  });

  it('is retried when the finalizer cannot be added, even if that is final', async () => {
    const refusal = new NoRetryError({ message: 'no' });
    expect((await run({ reconciler: { cleanup }, refusal })).outcome).to.deep.equal({
      type: 'ran',
      isHandled: false,
      result: { ok: false, error: refusal, retry: true },
    });
  });
});

describe('a cleanup', () => {
  const primary = deleting({ finalizers: [OURS] });
  const ran = async (reconciler: Partial<Reconciler<Widget>>, more: Given = {}) =>
    run({ primary, reconciler, ...more });

  it('lets the object go, which ends its events', async () => {
    const { outcome, writes } = await ran({ cleanup });
    expect(outcome).to.deep.equal({ ...success, result: { ok: true, removed: 'u' } });
    expect(writes).to.have.length(1);
  });

  it('names an object without a uid by an empty one', async () => {
    const { outcome } = await ran({ cleanup }, { primary: deleting({ finalizers: [OURS], uid: undefined }) });
    expect(outcome).to.have.nested.property('result.removed', '');
  });

  for (const [title, more, expected] of [
    ['until an event', {}, {}],
    ['for some time', { requeueAfterMs: 5 }, { requeueAfterMs: 5 }],
  ] as const)
    it(`keeps the object ${title}`, async () => {
      const { outcome, writes } = await ran({
        cleanup: () => Promise.resolve({ finalizer: 'keep', ...more }),
      });
      expect([outcome, writes]).to.deep.equal([{ ...success, result: { ok: true, ...expected } }, []]);
    });

  for (const [title, error, retry] of [
    ['is retried when it fails', new Error('no'), true],
    ['is not retried after a final failure', new NoRetryError({ message: 'no' }), false],
  ] as const)
    it(title, async () => {
      const { outcome } = await ran({ cleanup: () => Promise.reject(error) });
      expect(outcome).to.deep.equal({ ...success, result: { ok: false, error, retry } });
    });

  it('keeps the finalizer when it returns nothing, and fails', async () => {
    const { outcome, writes } = await ran({ cleanup: () => Promise.resolve(undefined as never) });
    expect(writes).to.deep.equal([]);
    expect(outcome).to.have.nested.property('result.ok', false);
    expect(outcome).to.have.nested.property('result.retry', true);
  });

  it('is retried when the finalizer cannot be removed', async () => {
    const refusal = apiErrorFrom(500, {}, { verb: 'patch', kind: 'Widget' });
    const { outcome } = await ran({ cleanup }, { refusal });
    expect(outcome).to.deep.equal({ ...success, result: { ok: false, error: refusal, retry: true } });
  });
});

describe('a reconcile', () => {
  const answering = (control: UpdateControl<Widget>, more: Given = {}) =>
    run({ reconciler: { reconcile: () => Promise.resolve(control) }, ...more });

  for (const [title, more, expected] of [
    ['at the sync period', {}, {}],
    ['after some time', { requeueAfterMs: 5 }, { requeueAfterMs: 5 }],
  ] as const)
    it(`that succeeds is repeated ${title}`, async () => {
      expect((await answering({ write: 'none', ...more })).outcome).to.deep.equal({
        ...success,
        result: { ok: true, ...expected },
      });
    });

  const status = { phase: 'Ready' };
  it('writes what it answers with, under the name of the controller', async () => {
    const object = { ...structuredClone(primaryOf()), status } as Widget;
    const { writes } = await answering(
      { write: 'status', object, strategy: 'apply' },
      { spec: { fieldManager: 'me' } },
    );
    expect(writes).to.have.length(1);
    expect(writes[0]).to.deep.include({ verb: 'apply', sub: 'status', manager: 'me' });
  });

  for (const [title, generation, expected] of [
    ['notes the generation', 'status', { phase: 'Ready', observedGeneration: 3 }],
    ['notes no generation unless it keeps it in the status', 'memory', { phase: 'Ready' }],
  ] as const)
    it(title, async () => {
      const object = { ...structuredClone(primaryOf()), status } as Widget;
      const { writes } = await answering({ write: 'status', object }, { spec: { generation } });
      expect(writes[0]).to.have.deep.nested.property('body.status', expected);
    });

  it('makes its finalizer part of an applied intent', async () => {
    const primary = primaryOf({ finalizers: [OURS] });
    const object = { ...structuredClone(primaryOf()), spec: { size: 2 } } as Widget;
    const { writes } = await run({
      primary,
      reconciler: {
        cleanup,
        reconcile: () => Promise.resolve({ write: 'resource', object, strategy: 'apply' }),
      },
    });
    expect(writes[0]).to.have.deep.nested.property('object.metadata.finalizers', [OURS]);
  });

  describe('writes the difference to', () => {
    const cachedOf = (more: object): View<Widget> => ({ ...primaryOf(more), spec: { size: 5 } });
    const written = (resourceVersion: string | undefined): Widget => {
      const object = structuredClone(primaryOf({ resourceVersion })) as Widget;
      object.spec = { size: 5 };
      return object;
    };
    const rows: readonly (readonly [string, Widget, View<Widget> | undefined, number])[] = [
      ['the primary for an object of its version', written('7'), cachedOf({}), 1],
      [
        'the primary for an object without a version',
        written(undefined),
        cachedOf({ resourceVersion: '8' }),
        1,
      ],
      [
        'what it has written itself for an object of that version',
        written('8'),
        cachedOf({ resourceVersion: '8' }),
        0,
      ],
      [
        'the primary for an object of a version that is not known',
        written('8'),
        cachedOf({ resourceVersion: '9' }),
        1,
      ],
      ['the primary for an object of a version when nothing is known', written('8'), undefined, 1],
      [
        'the primary when what is known is a namesake',
        written('8'),
        cachedOf({ resourceVersion: '8', uid: 'other' }),
        1,
      ],
    ];
    for (const [title, object, cached, count] of rows)
      it(title, async () => {
        const { writes } = await answering({ write: 'resource', object }, cached ? { cached } : {});
        expect(writes).to.have.length(count);
      });
  });

  it('fails when its write fails', async () => {
    const refusal = apiErrorFrom(409, {}, { verb: 'patch', kind: 'Widget' });
    const object = { ...structuredClone(primaryOf()), status } as Widget;
    expect((await answering({ write: 'status', object }, { refusal })).outcome).to.deep.equal({
      ...success,
      result: { ok: false, error: refusal, retry: true },
    });
  });

  it('fails when the reconciler returns nothing, and says what to return', async () => {
    const { outcome } = await run({ reconciler: { reconcile: () => Promise.resolve(undefined as never) } });
    expect(outcome).to.have.nested.property(
      'result.error.message',
      "reconcile returned nothing; return { write: 'none' } if there is nothing to write",
    );
  });

  it('writes nothing when the result is invalid', async () => {
    const object = { ...structuredClone(primaryOf()), status } as Widget;
    const { outcome, writes } = await answering({ write: 'status', object, requeueAfterMs: NaN });
    expect(writes).to.deep.equal([]);
    expect(outcome).to.have.nested.property('result.retry', true);
  });

  it('is retried when the result of its error handler is invalid, which the log shows', async () => {
    const error = new Error('no');
    const { outcome, lines } = await run({
      reconciler: { reconcile: () => Promise.reject(error), onError: () => Promise.resolve({} as never) },
    });
    expect(outcome).to.deep.equal({ ...success, result: { ok: false, error, retry: true } });
    expect(lines.map(({ message }) => message)).to.deep.equal(['error handler failed']);
  });

  it('fails with an error when something else is thrown, and counts a panic', async () => {
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- what authors do
    const { outcome, panics } = await run({ reconciler: { reconcile: () => Promise.reject('text') } });
    expect(panics).to.equal(1);
    expect(outcome).to.have.nested.property(
      'result.error.message',
      'a value that is not an error was thrown: text',
    );
    expect(outcome).to.have.nested.property('result.error.cause', 'text');
    expect(outcome).to.have.nested.property('result.retry', true);
  });
});

describe('a reconcile that fails', () => {
  const error = new Error('no');
  const final = new NoRetryError({ message: 'no' });
  const failing = (
    control: ErrorControl<Widget> | Error | undefined,
    thrown: Error = error,
    more: Given = {},
  ) =>
    run({
      reconciler: {
        reconcile: () => Promise.reject(thrown),
        ...(control !== undefined && {
          onError: () => (control instanceof Error ? Promise.reject(control) : Promise.resolve(control)),
        }),
      },
      ...more,
    });

  const rows: readonly (readonly [string, ErrorControl<Widget> | undefined, Error, Dispatched])[] = [
    ['is retried', undefined, error, { ...success, result: { ok: false, error, retry: true } }],
    ['is retried by default', 'default', error, { ...success, result: { ok: false, error, retry: true } }],
    [
      'is not retried if it is final',
      undefined,
      final,
      { ...success, result: { ok: false, error: final, retry: false } },
    ],
    [
      'is retried as its handler says',
      { retry: true },
      error,
      { type: 'ran', isHandled: true, result: { ok: false, error, retry: true } },
    ],
    [
      'is not retried if its handler says so',
      { retry: false },
      error,
      { type: 'ran', isHandled: true, result: { ok: false, error, retry: false } },
    ],
    [
      'is repeated after a time instead of a retry',
      { retry: false, requeueAfterMs: 5 },
      error,
      { type: 'ran', isHandled: true, result: { ok: false, error, retry: false, requeueAfterMs: 5 } },
    ],
    [
      'is not retried if it is final, whatever its handler says',
      { retry: true, requeueAfterMs: 5 },
      final,
      { type: 'ran', isHandled: true, result: { ok: false, error: final, retry: false, requeueAfterMs: 5 } },
    ],
  ];
  for (const [title, control, thrown, expected] of rows)
    it(title, async () => {
      const { outcome, lines } = await failing(control, thrown);
      expect([outcome, lines]).to.deep.equal([expected, []]);
    });

  it('is retried after its back-off rather than after a time, which is reported', async () => {
    const { outcome, lines } = await failing({ retry: true, requeueAfterMs: 5 });
    expect(outcome).to.deep.equal({
      type: 'ran',
      isHandled: true,
      result: { ok: false, error, retry: true },
    });
    expect(lines).to.deep.equal([
      {
        level: 'warn',
        message: 'a failed reconcile is retried after its back-off, not after a delay',
        fields: { requeueAfterMs: 5 },
      },
    ]);
  });

  it('is retried when its handler fails', async () => {
    const second = new Error('handler');
    const { outcome, lines } = await failing(second);
    expect(outcome).to.deep.equal({ ...success, result: { ok: false, error, retry: true } });
    expect(lines).to.deep.equal([
      { level: 'error', message: 'error handler failed', fields: { err: second } },
    ]);
  });

  describe('writes the status of its handler', () => {
    const status = { ...structuredClone(primaryOf()), status: { phase: 'Failed' } } as Widget;
    const cases: readonly (readonly [string, View<Widget> | undefined, string | undefined])[] = [
      ['on top of what is known now', primaryOf({ resourceVersion: '9' }), '9'],
      ['on top of what was read if nothing is known', undefined, '7'],
      ['not on a namesake', primaryOf({ uid: 'other' }), undefined],
    ];
    for (const [title, cached, version] of cases)
      it(title, async () => {
        const more = { spec: { generation: 'status' }, ...(cached && { cached }) } as const;
        const { writes } = await failing({ retry: true, status }, error, more);
        const bodies = writes.map((write) => ('body' in write ? write.body : write));
        expect(bodies).to.deep.equal(
          version === undefined
            ? []
            : [{ metadata: { resourceVersion: version }, status: { phase: 'Failed' } }],
        );
      });

    it('and goes on when that fails, too', async () => {
      const { outcome, lines } = await failing({ retry: true, status }, error, {
        refusal: new Error('refused'),
      });
      expect(outcome.type).to.equal('ran');
      expect(lines).to.deep.equal([
        {
          level: 'warn',
          message: 'writing the status of a failed reconcile failed',
          fields: { err: 'Error: refused' },
        },
      ]);
    });
  });
});

import { expect } from 'chai';
import { collectSpans, inSpan, type Collected } from '../../../../src/observability/tracing/scope.ts';
import { FakeClock } from '../../../support/clock.ts';

describe('the spans of a reconcile', () => {
  const collected = async (
    work: (clock: FakeClock) => Promise<unknown>,
  ): Promise<Collected & { thrown?: unknown }> => {
    const clock = new FakeClock();
    let result: Collected | undefined;
    let thrown: unknown;
    await collectSpans(
      clock,
      { name: 'reconcile' },
      () => work(clock),
      (all) => (result = all),
    ).catch((error: unknown) => (thrown = error));
    if (!result) throw new Error('nothing was collected');
    return { ...result, ...(thrown !== undefined && { thrown }) };
  };

  it('contain each other', async () => {
    const { spans } = await collected((clock) =>
      inSpan(
        () => ({ name: 'outer' }),
        async (span) => {
          await clock.advance(5);
          span.set({ a: 1 });
          await inSpan(
            () => ({ name: 'inner', kind: 'client' }),
            () => clock.advance(10),
          );
        },
      ),
    );
    const [inner, outer, first] = spans;
    expect([inner?.name, outer?.name, first?.name]).to.deep.equal(['inner', 'outer', 'reconcile']);
    expect(inner?.parentSpanId).to.equal(outer?.spanId);
    expect(outer?.parentSpanId).to.equal(first?.spanId);
    expect(first?.parentSpanId).to.equal(undefined);
    expect((inner?.endMs ?? 0) - (inner?.startMs ?? 0)).to.equal(10);
    expect((inner?.startMs ?? 0) - (outer?.startMs ?? 0)).to.equal(5);
    expect(outer?.attributes).to.deep.equal({ a: 1 });
  });

  it('carry the error that ended them', async () => {
    const { spans, thrown } = await collected(() =>
      inSpan(
        () => ({ name: 'request' }),
        () => Promise.reject(new TypeError('no such host')),
      ),
    );
    expect((thrown as Error).message).to.equal('no such host');
    expect(spans.map(({ error }) => error)).to.deep.equal(['no such host', 'no such host']);
    expect(spans[0]?.attributes).to.deep.equal({ 'error.type': 'TypeError' });
  });

  it('can fail without an exception', async () => {
    const { spans } = await collected(() =>
      inSpan(
        () => ({ name: 'request' }),
        (span) => {
          span.fail('');
          return Promise.resolve();
        },
      ),
    );
    expect(spans[0]?.error).to.equal('');
    expect(spans[1]?.error).to.equal(undefined);
  });

  it('are limited in number', async () => {
    const { spans, dropped } = await collected(async () => {
      for (let i = 0; i < 600; i++)
        await inSpan(
          () => ({ name: 'request' }),
          () => Promise.resolve(),
        );
    });
    expect(spans).to.have.length(501);
    expect(dropped).to.equal(100);
    expect(spans.at(-1)?.name).to.equal('reconcile');
  });

  it('do not exist outside of a traced reconcile', async () => {
    const value = await inSpan(
      () => {
        throw new Error('the attributes are computed for nothing');
      },
      (span) => {
        span.set({ a: 1 });
        return Promise.resolve('done');
      },
    );
    expect(value).to.equal('done');
  });

  it('ignore work that goes on after the reconcile', async () => {
    let end: () => void = () => undefined;
    const late: Promise<unknown>[] = [];
    const { spans } = await collected(() => {
      late.push(
        inSpan(
          () => ({ name: 'late' }),
          () => new Promise<void>((resolve) => (end = resolve)),
        ),
      );
      return Promise.resolve();
    });
    end();
    await Promise.all(late);
    expect(spans.map(({ name }) => name)).to.deep.equal(['reconcile']);
  });
});

/** Rules of statuses, errors and names that show in single cases only. */
import { expect } from 'chai';
import { CodecError } from '../../../../deployers/sdk/codec.ts';
import { decodeContinuous, nextDueTime } from '../../../../deployers/sdk/continuous.ts';
import { DeployerError, InternalError, RetryError } from '../../../../deployers/sdk/errors.ts';
import { isLeftInPlace } from '../../../../deployers/sdk/intake.ts';
import { itemOwner, type DeployItem, type DeployItemStatus } from '../../../../deployers/sdk/kinds.ts';
import { retry } from '../../../../deployers/sdk/outcome.ts';
import { checkSelectors, InvalidSelector, isSelected } from '../../../../deployers/sdk/responsible.ts';
import { ItemChanged, Session } from '../../../../deployers/sdk/session.ts';
import { settle, targetMissing } from '../../../../deployers/sdk/status.ts';
import { failAt } from '../../../../deployers/sdk/timeout.ts';
import { unreadFields } from '../../../../deployers/sdk/shape.ts';
import { Conflict, NotFound } from '../../../../src/runtime/errors.ts';
import type { View } from '../../../../src/runtime/types.ts';
import { deleting, item } from '../../../support/given.ts';
import { LS } from '../bench.ts';

const at = (seconds: number): string =>
  `2026-01-01T00:0${String(Math.floor(seconds / 60))}:${String(seconds % 60).padStart(2, '0')}Z`;
const place = { operation: 'Op', reason: 'Re', message: 'no such host' };

describe('a removal whose target is missing', () => {
  it('names the target, also when only the annotations of the item do', () => {
    const annotations = { [`${LS}/deployer-type`]: 'x/y', [`${LS}/deployer-target-name`]: 'noted' };
    const one = item('exec', 'web', {}, { ...deleting, annotations });
    expect(targetMissing(one).message).to.match(/^target demo\/noted does not exist, so /);
  });
});

describe('a name that is not found for a minute', () => {
  for (const [title, codes, expected] of [
    ['ends the job as a mistake of the configuration', undefined, ['ERR_CONFIGURATION_PROBLEM']],
    ['keeps other codes', ['ERR_CLEANUP'], ['ERR_CLEANUP', 'ERR_CONFIGURATION_PROBLEM']],
  ] as const) {
    it(title, () => {
      const look = (status: DeployItemStatus, seconds: number) =>
        settle(status, retry({ ...place, remote: 'NameNotFound', ...(codes && { codes }) }), {
          direction: 'apply',
          metadata: {},
          now: at(seconds),
          isInPlugin: true,
        });
      const first = look({ observedGeneration: 1, jobID: 'j1' }, 0);
      const last = look(first.status, 60);
      expect([last.end, last.status.lastError?.codes]).to.deep.equal(['Failed', expected]);
    });
  }
});

describe('errors of deployers', () => {
  const tooLong = new RetryError({ ...place, cause: new Error('behind') });

  it('have the names of their classes', () => {
    expect(new CodecError({ step: 'decode', message: 'm' }).name).to.equal('CodecError');
    expect(new ItemChanged(false).name).to.equal('ItemChanged');
    expect(new InvalidSelector('m').name).to.equal('InvalidSelector');
    expect(new DeployerError(place).name).to.equal('DeployerError');
    expect(tooLong.name).to.equal('RetryError');
  });

  it('have the code of their class, and no other', () => {
    expect(new InternalError(place).codes).to.deep.equal(['ERR_INTERNAL_PROBLEM']);
    expect(new DeployerError({ ...place, codes: ['ERR_CLEANUP'] }).codes).to.deep.equal(['ERR_CLEANUP']);
    expect(tooLong.codes).to.deep.equal([]);
  });

  it('say what happened to an item that changed', () => {
    expect(new ItemChanged(true).message).to.equal('deploy item deleted');
    expect(new ItemChanged(false).message).to.equal('deploy item changed concurrently');
  });

  it('have the answer of the server as their cause', async () => {
    for (const cause of [
      new Conflict({
        message: 'no',
        status: 409,
        reason: 'Conflict',
        ref: { verb: 'merge', kind: 'DeployItem' },
      }),
      new NotFound({
        message: 'no',
        status: 404,
        reason: 'NotFound',
        ref: { verb: 'merge', kind: 'DeployItem' },
      }),
    ]) {
      const session = new Session(item('exec', 'web'), {
        write: () => Promise.reject(cause),
        signal: new AbortController().signal,
      });
      const error = await session.removeAnnotation('a').catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(ItemChanged).with.property('cause', cause);
      expect(session.failure).to.equal(error);
    }
  });

  it('are thrown by the timeout policy for tests at its place', () => {
    expect(() => failAt('here').check('here', 1))
      .to.throw(DeployerError)
      .with.deep.include({
        operation: 'TestTimeoutChecker.TimeoutExceeded',
        reason: 'ProgressingTimeout',
        message: 'here',
      });
  });
});

describe('a finalizer of an item without finalizers', () => {
  it('is the only one afterwards, and needs no removal', async () => {
    const { finalizers: _, ...metadata } = item('exec', 'web').metadata;
    const sent: unknown[] = [];
    const bare = { ...item('exec', 'web'), metadata } as View<DeployItem>;
    const session = new Session(bare, {
      write: (write) => {
        sent.push(
          'body' in write && (write.body as { metadata: { finalizers?: unknown } }).metadata.finalizers,
        );
        return Promise.resolve(bare as never);
      },
      signal: new AbortController().signal,
    });
    await session.removeFinalizer();
    await session.addFinalizer();
    expect(sent).to.deep.equal([[`finalizer.${LS}`]]);
  });
});

describe('a schedule that cannot be followed', () => {
  const rows: readonly (readonly [unknown, 'decode' | 'validate'])[] = [
    ['x', 'decode'],
    [{ cron: 1 }, 'decode'],
    [{ every: 'often' }, 'decode'],
    [{ every: '-1s' }, 'validate'],
    [{ every: '1h', cron: '@daily' }, 'validate'],
    [{ cron: 'x' }, 'validate'],
  ];
  for (const [value, step] of rows) {
    it(`is refused when it is ${step === 'decode' ? 'read' : 'checked'}: ${JSON.stringify(value)}`, () => {
      expect(() => decodeContinuous(value))
        .to.throw(CodecError)
        .with.property('step', step);
    });
  }

  it('is due at no time without a last one', () => {
    expect(nextDueTime({ cron: '@daily' }, undefined)).to.equal(undefined);
  });
});

describe('target selectors', () => {
  const target = { metadata: { name: 'a', namespace: 'b', labels: { n: '5', x: 'y' } } } as never;
  const select = (operator: string, values?: readonly string[], key = 'n') =>
    isSelected([{ labels: [{ key, operator, ...(values && { values }) }] }], target);

  it('compare labels with values', () => {
    const rows: readonly (readonly [string, readonly string[] | undefined, string, boolean])[] = [
      ['=', ['5'], 'n', true],
      ['==', ['5'], 'n', true],
      ['in', ['4', '5'], 'n', true],
      ['=', ['4'], 'n', false],
      ['==', ['4'], 'n', false],
      ['in', ['4'], 'n', false],
      ['in', ['4'], 'missing', false],
      ['!=', ['4'], 'missing', true],
      ['notin', undefined, 'n', true],
      ['gt', ['4'], 'n', true],
      ['gt', ['4'], 'x', false],
      ['lt', ['4'], 'missing', false],
    ];
    for (const [operator, values, key, expected] of rows)
      expect(select(operator, values, key), [operator, values, key].join(' ')).to.equal(expected);
  });

  it('compare integers only', () => {
    const check = (value: string) => () => {
      checkSelectors([{ labels: [{ key: 'n', operator: 'gt', values: [value] }] }]);
    };
    expect(check('5')).to.not.throw();
    for (const value of ['5x', 'x5', '5.5'])
      expect(check(value)).to.throw(InvalidSelector, 'needs an integer');
  });
});

describe('what an item is', () => {
  it('is left in place only with the annotation that says so', () => {
    expect(isLeftInPlace(item('exec', 'web'))).to.equal(false);
  });

  it('is an owner by name and uid', () => {
    expect(itemOwner(item('exec', 'web'))).to.deep.equal({
      apiVersion: `${LS}/v1alpha1`,
      kind: 'DeployItem',
      name: 'exec-web-x',
      uid: 'uid-exec-web-x',
    });
  });
});

describe('unknown fields', () => {
  it('are not looked for in values of other types than the shape has', () => {
    expect(
      unreadFields({ list: [{ a: 'anything' }], map: { a: 'anything' } }, { list: 'x', map: 'y' }),
    ).to.deep.equal([]);
    expect(unreadFields({ list: [{ a: 'anything' }] }, { list: [{ b: 1 }] })).to.have.length(1);
    expect(unreadFields({ values: 'anything' }, { values: { a: { b: 1 } } })).to.deep.equal([]);
  });
});

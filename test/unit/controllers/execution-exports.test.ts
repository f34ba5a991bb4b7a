import { expect } from 'chai';
import { executionController } from '../../../controllers/execution/index.ts';
import { dataObjectKind, type DataObject } from '../../../src/api/kinds/dataobject.ts';
import { deployItemKind } from '../../../src/api/kinds/deployitem.ts';
import { executionKind, type Execution } from '../../../src/api/kinds/execution.ts';
import { executionContext, objectName } from '../../../src/dataflow/scope.ts';
import { secretKind } from '../../../src/landscape/world.ts';
import { apiErrorFrom } from '../../../src/runtime/errors.ts';
import { done, execution, item, running, template } from '../../support/given.ts';
import { portsOf } from './support/execution.ts';
import { stage, type Stage } from './support/stage.ts';

const JOB = 'j1';

describe('what the items of an execution export', () => {
  let on: Stage;
  beforeEach(() => {
    on = stage((ports) => executionController(portsOf(ports)));
  });
  afterEach(() => on.end());

  const putItem = (name: string, status: object = {}) =>
    on.client.put(deployItemKind, item('plan', name, { ...done(JOB), ...status }));
  const status = (): NonNullable<Execution['status']> =>
    on.client.read(executionKind, 'demo/plan')?.status ?? {};

  const secret = (name: string, data: Readonly<Record<string, string>>, namespace = 'demo') => {
    const coded = Object.entries(data).map(
      ([key, text]) => [key, Buffer.from(text).toString('base64')] as const,
    );
    on.client.put(secretKind, { metadata: { name, namespace }, data: Object.fromEntries(coded) });
  };
  const exporting = (exportRef: object) => putItem('a', { exportRef });
  const completing = (items = [template('a')]) =>
    on.client.put(executionKind, execution('plan', { items, status: running(JOB, 'Completing') }));
  const published = (): DataObject | undefined =>
    on.client.read(dataObjectKind, `demo/${objectName(executionContext('plan'), '')}`);

  it('are published in one data object, by template, and null for items without exports', async () => {
    completing([template('a'), template('b')]);
    exporting({ name: 'out' });
    putItem('b');
    secret('out', { config: 'url: https://a.example\nport: 80\n' });
    await on.start();
    expect(published()?.data).to.deep.equal({ a: { url: 'https://a.example', port: 80 }, b: null });
    expect(status()).to.include({ phase: 'Succeeded' });
    expect(status().exportRef).to.deep.equal({ name: published()?.metadata.name, namespace: 'demo' });
  });

  it('are read from the namespace of the item, whether it names it or not', async () => {
    completing();
    exporting({ name: 'out', namespace: 'demo' });
    secret('out', { config: 'here: true' });
    await on.start();
    expect(published()?.data).to.deep.equal({ a: { here: true } });
  });

  it('are refused when they are too large together, although each is accepted', async () => {
    const names = ['a', 'b', 'c'];
    const config = `text: ${'x'.repeat(6 << 20)}`;
    completing(names.map((name) => template(name)));
    for (const name of names) {
      putItem(name, { exportRef: { name: `out-${name}` } });
      secret(`out-${name}`, { config });
    }
    await on.start();
    expect(status().lastError?.message).to.match(
      /^the exports of the deploy items have more than 16 MiB as JSON together, a fixed limit; divide/,
    );
    expect(published()).to.equal(undefined);
  });

  const failures: readonly [string, () => void, RegExp][] = [
    [
      'the secret does not exist',
      () => exporting({ name: 'out' }),
      /^export secret demo\/out of deploy item a does not exist$/,
    ],
    [
      'the item names another namespace',
      () => {
        exporting({ name: 'out', namespace: 'other' });
        secret('out', { config: 'here: true' }, 'other');
      },
      /^export secret demo\/out of deploy item a cannot be read: status.exportRef names namespace "other"; only secrets of the item's own namespace are read$/,
    ],
    [
      'the name of the secret is a path',
      () => {
        exporting({ name: '../../other/secrets/out' });
      },
      /cannot be read: its name is invalid: /,
    ],
    [
      'the secret does not have the key',
      () => {
        exporting({ name: 'out' });
        secret('out', { other: 'x' });
      },
      /^export secret demo\/out of deploy item a has no key "config"$/,
    ],
    [
      'the secret contains invalid YAML, which is not shown',
      () => {
        exporting({ name: 'out' });
        secret('out', { config: '{ password: hunter2' });
      },
      /^export secret demo\/out of deploy item a contains invalid YAML under key "config"$/,
    ],
    [
      'the secret contains an integer that would lose digits',
      () => {
        exporting({ name: 'out' });
        secret('out', { config: 'a: 1\nid: 9007199254740993' });
      },
      /^export secret demo\/out of deploy item a: line 2 of key "config" is an integer beyond 2\^53/,
    ],
    ['an item is gone', () => undefined, /^has failed or missing deploy items: a is missing$/],
  ];
  for (const [title, given, why] of failures) {
    it(`fail the job if ${title}`, async () => {
      completing();
      given();
      await on.start();
      expect(status()).to.include({ phase: 'Failed', jobIDFinished: JOB });
      const { operation, reason, message, codes } = status().lastError ?? {};
      expect(message).to.match(why);
      expect({ operation, reason, codes }).to.deep.equal({
        operation: 'handleReconcilePhase',
        reason: 'handlePhaseCompleting',
        codes: undefined,
      });
      expect(published()).to.equal(undefined);
    });
  }

  it('are retried if the secret is temporarily not readable', async () => {
    completing();
    exporting({ name: 'out' });
    secret('out', { config: 'a: 1' });
    const busy = apiErrorFrom(503, { message: 'busy' }, { verb: 'get', kind: 'Secret' });
    let isBusy = true;
    on.client.fault = ({ kind }) => (kind === 'Secret' && isBusy ? busy : undefined);
    await on.start();
    expect(status()).to.include({ phase: 'Completing' });
    expect(status().lastError?.reason).to.equal('ReadFailed');
    isBusy = false;
    await on.clock.advance(1_000);
    expect(status()).to.include({ phase: 'Succeeded' });
    expect(status()).not.to.have.property('lastError');
  });
});

/** Two deployers for the same items: how one of them notices the other. */
import { expect } from 'chai';
import { createRivals } from '../../../../deployers/sdk/rivals.ts';
import type { DeployItem } from '../../../../deployers/sdk/kinds.ts';
import { ownField } from '../../../../src/lib/objects.ts';
import { silentLogger } from '../../../../src/observability/log.ts';
import type { View } from '../../../../src/runtime/types.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';
import { givenPlugin } from '../plugin-bench.ts';

const KEY = 'proj/web';
const item = (status: object): View<DeployItem> => ({ metadata: {}, status }) as unknown as View<DeployItem>;
const by = (identity: string) => ({ deployer: { identity, name: 'n', version: '1' } });
const asked = item({ jobID: 'j2', jobIDFinished: 'j1', phase: 'Succeeded', ...by('other') });
const started = (identity: string, jobID = 'j2'): View<DeployItem> =>
  item({
    jobID,
    jobIDFinished: 'j1',
    phase: 'Progressing',
    transitionTimes: { initTime: 'x' },
    ...by(identity),
  });
const ended = (identity: string): View<DeployItem> =>
  item({ jobID: 'j2', jobIDFinished: 'j2', phase: 'Succeeded', ...by(identity) });

/** The notes of the Events at the start of a reconcile. */
function reportsOf(rivals: ReturnType<typeof createRivals>, one: View<DeployItem>): readonly string[] {
  const notes: string[] = [];
  rivals.report(one, { key: KEY, event: (_type, _reason, note) => notes.push(note) });
  return notes;
}

describe('a deployer whose start of a job was refused', () => {
  const rows: readonly (readonly [title: string, after: View<DeployItem>, isReported: boolean])[] = [
    ['and started by another one, has a rival', started('other'), true],
    ['and finished by another one, has a rival', ended('other'), true],
    ['and started by itself, has none', started('ours'), false],
    ['and finished by itself, has none', ended('ours'), false],
    ['and followed by another job, cannot tell', started('other', 'j3'), false],
    ['and not started at all, has none', asked, false],
    [
      'and finished by a user, who interrupted it, has none',
      item({ jobID: 'j2', jobIDFinished: 'j2', phase: 'Failed' }),
      false,
    ],
  ];
  for (const [title, after, isReported] of rows)
    it(title, () => {
      const rivals = createRivals('ours', silentLogger);
      rivals.refused(KEY, asked);
      expect(reportsOf(rivals, after)).to.have.length(isReported ? 1 : 0);
      expect(rivals.size, 'it remembers only what is open').to.equal(after === asked ? 1 : 0);
      expect(reportsOf(rivals, after), 'reported once').to.deep.equal([]);
    });

  it('still notices when the job is started later', () => {
    const rivals = createRivals('ours', silentLogger);
    rivals.refused(KEY, asked);
    reportsOf(rivals, asked);
    expect(reportsOf(rivals, started('other'))[0]).to.contain('"ours" and "other"');
  });

  it('logs each rival once, and forgets the oldest of too many refusals', () => {
    const { log, lines } = recordingLogger();
    const rivals = createRivals('ours', log);
    for (const name of ['a', 'a', 'b']) {
      rivals.refused(KEY, asked);
      reportsOf(rivals, started(name));
    }
    expect(lines.map(({ level, fields }) => [level, ownField(fields, 'other')])).to.deep.equal([
      ['error', 'a'],
      ['error', 'b'],
    ]);
    for (let i = 0; i < 1001; i++) rivals.refused(`proj/${String(i)}`, asked);
    expect(rivals.size).to.equal(1);
  });
});

describe('a deployer whose write was refused for another reason', () => {
  for (const [title, before] of [
    ['in a job that had started, because another one continues it', started('other')],
    ['without an open job', ended('other')],
    ['without a job', item({})],
  ] as const)
    it(`has no rival: ${title}`, () => {
      const rivals = createRivals('ours', silentLogger);
      rivals.refused(KEY, before);
      expect(rivals.size).to.equal(0);
    });
});

describe('a job that two deployers start', () => {
  const start = (identity: string) => ({
    status: { phase: 'Progressing', transitionTimes: { initTime: '2026-01-01T00:00:00Z' }, ...by(identity) },
  });
  const fight = async (identity: string) => {
    const b = givenPlugin();
    let isFirst = true;
    b.host.fail = (verb) => {
      if (verb !== 'merge/status' || !isFirst) return;
      isFirst = false;
      b.host.edit('DeployItem', 'proj/web', start(identity));
    };
    await b.kick('j1');
    await b.pass(100);
    expect(b.status()).to.deep.include({ phase: 'Succeeded', jobIDFinished: 'j1' });
    return b.events;
  };

  it('has an Event that names both, and what to do', async () => {
    const [event, ...more] = await fight('other');
    expect(event).to.match(/AnotherDeployer.*"bench" and "other" handle the same deploy items/);
    expect(more).to.deep.equal([]);
  });

  it('has none if the refused write was its own', async () => {
    expect(await fight('bench')).to.deep.equal([]);
  });
});

import { expect } from 'chai';
import pico from 'picocolors';
import { elapsedText, plainMessage, treeLines, type PrintOptions } from '../../../src/cli/tree/print.ts';
import { exporting, importing, execution, installation, item, trees } from './given.ts';

const plain = pico.createColors(false);
const now = Date.parse('2026-01-01T00:01:00Z');
const print = (objects: Parameters<typeof trees>, more: Partial<PrintOptions> = {}): string[] =>
  treeLines(trees(...objects), { paint: plain, columns: 100, now, ...more });

const running = (): Parameters<typeof trees> => [
  installation('shop', { phase: 'Progressing', started: '2026-01-01T00:00:50Z' }),
  installation('db-x1', {
    parent: 'shop',
    template: 'db',
    phase: 'Succeeded',
    started: '2026-01-01T00:00:50Z',
    ended: '2026-01-01T00:00:53Z',
  }),
  execution('db-x1', { phase: 'Succeeded' }),
  installation('web-y2', {
    parent: 'shop',
    template: 'web',
    phase: 'Progressing',
    error: 'Op: a - Reason: b - Message: Deployment web/web: 0 of 2 replicas are ready',
  }),
];

describe('a tree in columns', () => {
  it('has name, kind, phase, time and awaited objects', () => {
    expect(print(running())).to.deep.equal([
      'shop      Installation  ● Progressing  10s',
      '├─ db     Installation  ✔ Succeeded     3s',
      '│  └─ db  Execution     ✔ Succeeded',
      '└─ web    Installation  ● Progressing       Deployment web/web: 0 of 2 replicas are ready',
    ]);
  });

  const narrow: readonly (readonly [columns: number, line: string])[] = [
    [35, '├─ db     inst  ✔ Succeeded     3s'],
    [34, '├─ db     inst  ✔ Succeeded     3s'],
    [33, '├─ db     ✔ Succeeded     3s'],
    [27, '├─ db     ✔ Succeeded'],
    [18, '├─ db     ✔ Succe…'],
  ];
  for (const [columns, line] of narrow)
    it(`hides columns that do not fit in ${String(columns)} columns, and never truncates a time`, () => {
      const lines = print(running(), { columns });
      expect(lines[1]).to.equal(line);
      expect(Math.max(...lines.map((each) => each.length))).to.be.at.most(columns);
    });

  it('adds the names of objects if they fit', () => {
    const [root, db] = print(running(), { columns: 120 });
    expect(root).to.equal('shop      Installation  ● Progressing  10s');
    expect(db).to.equal('├─ db     Installation  ✔ Succeeded     3s  db-x1');
  });

  it('uses short names of kinds in narrow terminals', () => {
    expect(print(running(), { columns: 80 })).to.deep.equal([
      'shop      inst  ● Progressing  10s',
      '├─ db     inst  ✔ Succeeded     3s',
      '│  └─ db  exec  ✔ Succeeded',
      '└─ web    inst  ● Progressing       Deployment web/web: 0 of 2 replicas are rea…',
    ]);
  });

  it('is never wider than the terminal', () => {
    for (const columns of [10, 30, 44, 60, 79, 80, 110, 140])
      for (const line of print(running(), { columns })) expect(line.length, line).to.be.at.most(columns);
  });

  it('shows everything without a limit', () => {
    expect(print(running(), { columns: Infinity }).at(-1)).to.match(/0 of 2 replicas are ready$/);
  });

  it('animates a symbol for running objects', () => {
    const first = print(running(), { frame: 0 })[0];
    const second = print(running(), { frame: 1 })[0];
    expect(first).to.contain('⠋ Progressing');
    expect(second).to.contain('⠙ Progressing');
    expect(print(running(), { frame: 10 })[0]).to.equal(first);
  });

  it('prefers measured times to those of the status', () => {
    expect(print(running(), { elapsed: () => 2140 })[0]).to.contain('2.1s');
  });

  it('shows the reason of a failure where it happened, not above', () => {
    const lines = print([
      installation('shop', { phase: 'Failed', error: 'Execution is failed' }),
      execution('shop', { phase: 'Failed', error: 'has failed deploy items' }),
      item('i', { execution: 'shop', phase: 'Failed', error: 'no such\n  image' }),
    ]);
    expect(lines.map((l) => l.includes('failed'))).to.deep.equal([false, false, false]);
    expect(lines[2]).to.match(/no such image$/);
  });

  it('names the siblings it waits for', () => {
    const lines = print([
      installation('shop', { phase: 'Progressing' }),
      installation('db-1', { parent: 'shop', template: 'db', phase: 'Init', spec: exporting }),
      installation('web-1', {
        parent: 'shop',
        template: 'web',
        phase: 'Init',
        reason: 'AllPredecessorsFinished',
        error: 'depending on installation "proj/db-1" which not finished',
        spec: importing,
      }),
    ]);
    expect(lines[2]).to.match(/waits for db$/);
  });

  it('shows an object without phase as waiting', () => {
    expect(print([installation('shop', { job: '' })])).to.deep.equal(['shop  Installation  · Waiting']);
  });

  it('marks objects with an older job', () => {
    expect(
      print([installation('shop'), execution('shop', { phase: 'Succeeded', job: 'old' })])[1],
    ).to.contain('Succeeded (outdated)');
  });

  it('colours phases by success and failure', () => {
    const paint = pico.createColors(true);
    const line = (phase: string): string => print([installation('a', { phase })], { paint })[0] ?? '';
    expect(line('Succeeded')).to.contain('\u001b[32m✔ Succeeded');
    expect(line('Failed')).to.contain('\u001b[31m✖ Failed');
    expect(line('Init')).to.contain('\u001b[33m● Init');
  });

  it('is empty without objects', () => {
    expect(treeLines([], { paint: plain, columns: 80, now })).to.deep.equal([]);
  });
});

describe('a duration', () => {
  const rows: readonly (readonly [number, boolean, string])[] = [
    [0, true, '0.0s'],
    [2149, true, '2.1s'],
    [9999, true, '9.9s'],
    [10_000, true, '10s'],
    [3000, false, '3s'],
    [59_999, true, '59s'],
    [60_000, true, '1m'],
    [200_000, false, '3m20s'],
    [7_500_000, false, '2h5m'],
    [360_000_000, false, '4d4h'],
  ];
  for (const [ms, isExact, text] of rows)
    it(`of ${String(ms)} ms${isExact ? '' : ', not exact,'} is ${text}`, () => {
      expect(elapsedText(ms, isExact)).to.equal(text);
    });
});

describe('the message of an error', () => {
  it('is shown without the steps around it', () => {
    expect(
      plainMessage('Op: A - Reason: B - Message: Op: C - Reason: D - Message: it is\n  broken'),
    ).to.equal('it is broken');
  });

  it('has its lines one behind the other', () => {
    expect(plainMessage('it is broken\nfix it')).to.equal('it is broken; fix it');
    expect(plainMessage('two problems:\none\ntwo')).to.equal('two problems: one; two');
  });
});

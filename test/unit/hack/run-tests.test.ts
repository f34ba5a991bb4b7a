/** How test files are ordered, started and summed up. */
import { expect } from 'chai';
import { runQueue, type Work } from '../../../hack/tests/queue.ts';
import { resultOf, type Result } from '../../../hack/tests/result.ts';
import { inOrder, mayStart, type Weights } from '../../../hack/tests/schedule.ts';
import { defaultFiles, filesOf, UnknownSuite } from '../../../hack/tests/suites.ts';
import { Summary } from '../../../hack/tests/summary.ts';

const fine: Result = {
  passed: 1,
  failures: [],
  skipped: {},
  output: '',
  details: '',
  wallMs: 0,
  cpuMs: 0,
};
const item = (name: string, isAlone = false) => ({ name, suite: 'unit', isAlone });

describe('the order of test files', () => {
  const namesOf = (items: readonly { name: string }[]): readonly string[] => items.map(({ name }) => name);

  it('is from the longest to the shortest; an unknown one counts as a second', () => {
    const weights: Weights = { long: 9000, short: 10 };
    expect(namesOf(inOrder([item('short'), item('unknown'), item('long')], weights))).to.deep.equal([
      'long',
      'unknown',
      'short',
    ]);
  });

  it('has those that run alone at the end, even the longest', () => {
    expect(namesOf(inOrder([item('alone', true), item('other')], { alone: 9000 }))).to.deep.equal([
      'other',
      'alone',
    ]);
  });

  it('does not take what every object has for a weight', () => {
    expect(namesOf(inOrder([item('constructor'), item('long')], { long: 2000 }))).to.deep.equal([
      'long',
      'constructor',
    ]);
  });
});

describe('one more test file starts', () => {
  for (const { load, starts, why } of [
    { load: { running: 1, idle: 0, cores: 2 }, starts: true, why: 'fewer run than there are processors' },
    { load: { running: 2, idle: 0.2, cores: 2 }, starts: false, why: 'all processors are busy' },
    { load: { running: 2, idle: 0.25, cores: 2 }, starts: true, why: 'a quarter of a processor is idle' },
    { load: { running: 7, idle: 2, cores: 2 }, starts: true, why: 'most files wait' },
    { load: { running: 8, idle: 2, cores: 2 }, starts: false, why: 'four per processor are running' },
  ])
    it(`${starts ? 'if' : 'not if'} ${why}`, () => {
      expect(mayStart(load)).to.equal(starts);
    });
});

describe('the queue of test files', () => {
  /** Work that ends when it is told. */
  class Held {
    readonly started: string[] = [];
    readonly #release = new Map<string, () => void>();
    readonly #waits: { readonly count: number; readonly done: () => void }[] = [];

    work = (name: string, isAlone = false): Work => ({
      ...item(name, isAlone),
      run: () =>
        new Promise<Result>((resolve) => {
          this.#release.set(name, () => {
            resolve(fine);
          });
          this.started.push(name);
          for (const wait of this.#waits) if (this.started.length >= wait.count) wait.done();
        }),
    });

    end(name: string): void {
      this.#release.get(name)?.();
    }

    /** Resolves when so many have started. */
    until(count: number): Promise<void> {
      return new Promise((done) => {
        if (this.started.length >= count) done();
        else this.#waits.push({ count, done });
      });
    }
  }

  const options = { weights: {}, cores: 2, idle: () => 0, closed: () => undefined, onEnd: () => {} };

  it('runs as many as there are processors while these are busy', async () => {
    const held = new Held();
    const all = runQueue([held.work('a'), held.work('b'), held.work('c')], options);
    await held.until(2);
    expect(held.started).to.deep.equal(['a', 'b']);
    held.end('a');
    await held.until(3);
    held.end('b');
    held.end('c');
    await all;
  });

  it('runs more while a processor is idle', async () => {
    const held = new Held();
    const all = runQueue(
      ['a', 'b', 'c'].map((name) => held.work(name)),
      { ...options, idle: () => 1 },
    );
    await held.until(3);
    for (const name of ['a', 'b', 'c']) held.end(name);
    await all;
  });

  it('runs nothing beside what runs alone', async () => {
    const held = new Held();
    const all = runQueue([held.work('alone', true), held.work('second', true), held.work('a')], {
      ...options,
      idle: () => 2,
    });
    await held.until(1);
    expect(held.started).to.deep.equal(['a']);
    held.end('a');
    await held.until(2);
    expect(held.started).to.deep.equal(['a', 'alone']);
    held.end('alone');
    await held.until(3);
    held.end('second');
    await all;
  });

  it('skips what has not started when the time is over, and says so', async () => {
    const ended: Result[] = [];
    await runQueue([new Held().work('a')], {
      ...options,
      closed: () => 'the run has taken 70 minutes',
      onEnd: (_, result) => ended.push(result),
    });
    expect(ended.map(({ skipped, failures }) => ({ skipped, failures }))).to.deep.equal([
      { skipped: { 'not started: the run has taken 70 minutes': 1 }, failures: [] },
    ]);
  });
});

describe('the result of a program', () => {
  const time = { wallMs: 1, cpuMs: 0 };
  for (const { why, code, output, passed, failures, skipped } of [
    { why: 'has no counts and succeeds', code: 0, output: 'fine', passed: 1, failures: [], skipped: {} },
    {
      why: 'has no counts and fails',
      code: 1,
      output: 'a\nboom\n',
      passed: 0,
      failures: ['p: boom'],
      skipped: {},
    },
    { why: 'is killed', code: null, output: '', passed: 0, failures: ['p: it was killed'], skipped: {} },
    { why: 'counts', code: 0, output: 'x\n5 passed, 0 failed\n', passed: 5, failures: [], skipped: {} },
    {
      why: 'names its failures',
      code: 1,
      output: 'failed: one\nfailed: two\n5 passed, 2 failed, 3 skipped\n',
      passed: 5,
      failures: ['one', 'two'],
      skipped: { 'as the program said': 3 },
    },
    {
      why: 'counts no failure but ends badly',
      code: 1,
      output: '5 passed, 0 failed\n',
      passed: 5,
      failures: ['p: 5 passed, 0 failed'],
      skipped: {},
    },
    {
      why: 'cannot run on this machine',
      code: 3,
      output: 'there is no Go\nmake: *** [traces] Error 3\n',
      passed: 0,
      failures: [],
      skipped: { 'there is no Go': 1 },
    },
  ])
    it(`that ${why}`, () => {
      const result = resultOf('p', code, output, time);
      expect(result).to.deep.include({ passed, failures, skipped });
    });
});

describe('the summary of tests', () => {
  it('sums up, names each failure and each reason, and closes with the counts', () => {
    const lines: string[] = [];
    const summary = new Summary({ total: 2, say: (line) => lines.push(line), showsTitles: false });
    summary.add({ ...item('a'), run: () => Promise.resolve(fine) }, { ...fine, passed: 3 });
    summary.add(
      { ...item('b'), run: () => Promise.resolve(fine) },
      { ...fine, failures: ['it broke'], details: 'why\n', skipped: { 'no Go': 2 } },
    );
    expect(summary.close()).to.equal(false);
    expect(lines).to.deep.equal([
      '1/2 ok     a: 3 passed, 0.0 s (processor 0.0 s)',
      '2/2 FAILED b: 1 passed, 1 failed, 2 skipped, 0.0 s (processor 0.0 s)',
      '    why\n',
      '',
      'failed: it broke',
      'skipped: 2: no Go',
      '4 passed, 1 failed, 2 skipped',
    ]);
  });

  it('fails if a process did not end as it should, although all tests passed', () => {
    const lines: string[] = [];
    const summary = new Summary({ total: 1, say: (line) => lines.push(line), showsTitles: false });
    summary.add({ ...item('a'), run: () => Promise.resolve(fine) }, fine);
    summary.fail('a process of tests was kept alive');
    expect(summary.close()).to.equal(false);
    expect(lines.at(-1)).to.equal('1 passed, 1 failed');
  });
});

describe('the suites', () => {
  it('say which there are if one is unknown', () => {
    expect(() => filesOf('units')).to.throw(
      UnknownSuite,
      /there is no test suite units; there are long, slow/,
    );
  });

  it('leave slow, long and separate ones out by default', () => {
    const files = defaultFiles();
    expect(files).to.include('test/unit/lib/cron.test.ts');
    for (const suite of ['slow', 'long', 'console', 'attacks', 'node', 'conformance/kubectl'])
      expect(files).to.not.include.members([...filesOf(suite).slice(0, 1)]);
  });
});

import { expect } from 'chai';
import { createLiveBlock, fitToHeight } from '../../../src/cli/terminal/live.ts';
import { phasesOf, problemsOf } from '../../../src/cli/tree/progress.ts';
import { quoted, selfCommand } from '../../../src/cli/self-command.ts';
import { Stopwatch } from '../../../src/cli/tree/stopwatch.ts';
import { collected, execution, failedLandscape, installation, item, trees } from './given.ts';
import { fakeTerminal } from './terminal.ts';

/** The content of a terminal after these bytes; supports the few used sequences. */
function screen(bytes: string): string[] {
  const lines: string[] = [''];
  let row = 0;

  for (const part of bytes.split(/(\u001b\[[?\d]*[A-Za-z]|\n|\r)/)) {
    if (part === '\n') row++;
    else if (part === '\u001b[J') lines.splice(row);
    else if (part === '\u001b[K') lines[row] = (lines[row] ?? '').slice(0, column);
    else if (part.endsWith('A') && part.startsWith('\u001b')) row -= Number(/\d+/.exec(part)?.[0]);
    else if (part !== '\r' && !part.startsWith('\u001b') && part !== '')
      lines[row] = part + (lines[row] ?? '').slice(part.length);
    column =
      part === '\n' || part === '\r' || part.startsWith('\u001b[')
        ? part.endsWith('K')
          ? column
          : 0
        : part.length;
  }
  return lines.filter((line) => line !== '');
}
let column = 0;

describe('a block drawn in place', () => {
  it('replaces its previous content', () => {
    const terminal = fakeTerminal();
    const block = createLiveBlock(terminal);
    terminal.print('title');
    block.draw(['one', 'second line']);
    block.draw(['1', '2', '3']);
    expect(screen(terminal.output)).to.deep.equal(['title', '1', '2', '3']);
    block.draw(['only']);
    expect(screen(terminal.output)).to.deep.equal(['title', 'only']);
  });

  it('moves down for lines above it', () => {
    const terminal = fakeTerminal();
    const block = createLiveBlock(terminal);
    block.draw(['a', 'b']);
    block.above('warning\n');
    expect(screen(terminal.output)).to.deep.equal(['warning', 'a', 'b']);
  });

  it('shows control sequences in its lines instead of obeying them', () => {
    const terminal = fakeTerminal();
    const block = createLiveBlock(terminal);
    block.draw(['failed: \u001b[2Ahidden']);
    block.above('warning \u001b]0;title\u0007');
    const shown = screen(terminal.output);
    expect(shown).to.deep.equal(['warning \\u001b]0;title\\u0007', 'failed: \\u001b[2Ahidden']);
  });

  it('restores the cursor at the end', () => {
    const terminal = fakeTerminal();
    const block = createLiveBlock(terminal);
    block.draw(['a']);
    block.finish(['z']);
    expect(terminal.output.indexOf('\u001b[?25l')).to.equal(0);
    expect(terminal.output).to.match(/\u001b\[\?25h$/);
  });

  it('is never taller than the terminal', () => {
    expect(fitToHeight(['a', 'b', 'c'], 3)).to.deep.equal(['a', 'b', 'c']);
    expect(fitToHeight(['a', 'b', 'c', 'd'], 3)).to.deep.equal(['a', 'b', '… 2 more']);
  });
});

describe('a stopwatch', () => {
  const at = (phase: string | undefined, job = 'r') =>
    collected(installation('a', { job, ...(phase !== undefined && { phase }) }));
  const node = (phase: string, job = 'r') => trees(installation('a', { phase, job }))[0]!;

  it('measures a job from its first observation to its end', () => {
    const watch = new Stopwatch();
    watch.observe(collected(), 0);
    watch.observe(at('Init'), 100);
    expect(watch.elapsed(node('Init'), 250)).to.equal(150);
    watch.observe(at('Succeeded'), 400);
    expect(watch.elapsed(node('Succeeded'), 9000)).to.equal(300);
  });

  it('ignores jobs that already existed', () => {
    const watch = new Stopwatch();
    watch.observe(at('Init'), 100);
    watch.observe(at('Succeeded'), 400);
    expect(watch.elapsed(node('Succeeded'), 500)).to.equal(undefined);
  });

  it('restarts with a new job', () => {
    const watch = new Stopwatch();
    watch.observe(at('Succeeded', 'one'), 0);
    watch.observe(at('Init', 'two'), 1000);
    expect(watch.elapsed(node('Init', 'two'), 1500)).to.equal(500);
  });
});

describe('progress in lines', () => {
  it('names every node with its path from the root', () => {
    const phases = phasesOf(
      trees(
        installation('app', { phase: 'Progressing' }),
        installation('db-1', { parent: 'app', template: 'db', phase: 'Init' }),
        execution('app', { phase: 'Progressing' }),
        item('app-web-2', { execution: 'app', template: 'web', phase: 'Succeeded' }),
      ),
    );
    expect([...phases]).to.deep.equal([
      ['Installation app', 'Progressing'],
      ['Installation app/db', 'Init'],
      ['Execution app', 'Progressing'],
      ['DeployItem app/web', 'Succeeded'],
    ]);
    expect(phasesOf(trees(...failedLandscape())).size).to.equal(4);
  });

  it('reports retries of a running job, at the leaf, and no waits and ends', () => {
    const waiting = installation('app', { phase: 'Progressing', error: 'waits for execution app' });
    const conditions = [
      { type: 'Waiting', status: 'True', reason: 'Children', message: 'waits for execution app' },
    ];
    const [running, failed] = (['Progressing', 'Failed'] as const).map((phase) => [
      { ...waiting, status: { ...waiting.status, conditions } } as typeof waiting,
      execution('app', { phase: 'Progressing' }),
      item('app-web-2', { execution: 'app', template: 'web', phase, error: 'no namespace\n"nope"' }),
    ]);
    expect([...problemsOf(trees(...running!))]).to.deep.equal([
      ['DeployItem app/web', 'no namespace; "nope"'],
    ]);
    expect(problemsOf(trees(...failed!)).size).to.equal(0);
  });
});

describe('the name of our command', () => {
  const rows: readonly (readonly [string[], string[], string])[] = [
    [['node', '/usr/bin/espalier'], [], 'espalier'],
    [['node', '/usr/bin/kubectl-espalier'], [], 'kubectl espalier'],
    [['node', '/home/me/e/dist/src/cli/main.js'], [], 'node dist/src/cli/main.js'],
    [['node', '/opt/e/main.js'], [], 'node /opt/e/main.js'],
    [['node', '/home/me/e/src/cli/main.ts'], ['--import', 'tsx'], 'node --import tsx src/cli/main.ts'],
  ];
  for (const [argv, execArgv, expected] of rows)
    it(`is "${expected}"`, () => {
      expect(selfCommand(argv, execArgv, '/home/me/e')).to.equal(expected);
    });

  it('is quoted for a shell', () => {
    expect(quoted('/plain/path')).to.equal('/plain/path');
    expect(quoted("it's here")).to.equal(`'it'\\''s here'`);
  });
});

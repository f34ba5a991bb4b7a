/**
 * Shows the progress of trees: on a terminal, redraws them in place; otherwise prints a line for each change of
 * phase and each new problem.
 */
import { conditionTypes } from '../../api/conditions.ts';
import { sleep, type Clock } from '../../lib/clock.ts';
import type { Caches } from '../../runtime/types.ts';
import { watchObjects, type Collected } from './collect.ts';
import { createLiveBlock } from '../terminal/live.ts';
import { elapsedText, noteOf, treeLines } from './print.ts';
import { Stopwatch } from './stopwatch.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { treesOf, type Node } from './tree.ts';

interface ProgressOptions {
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly caches: Caches;
  readonly namespace: string | undefined;
  /** The installation to show; default all roots. */
  readonly name?: string | undefined;
  /** Selects the trees to show; default: installations. */
  readonly rootsIn?: (collected: Collected) => readonly Node[];
  /** Ends the display early; the result is the current state. */
  readonly signal: AbortSignal;
  /** Whether to stop; called after each change. */
  readonly isOver: (roots: readonly Node[], collected: Collected) => boolean;
  /** Called with a function that prints lines without disturbing the tree. */
  readonly onReady?: (say: (text: string) => void) => void;
}

const FRAME_MS = 100;

/** @returns the final state of the trees */
export async function showProgress(options: ProgressOptions): Promise<readonly Node[]> {
  const { terminal, clock, signal } = options;
  const watching = new AbortController();
  const stopwatch = new Stopwatch();
  const startedAt = clock.now();
  let current: () => Collected = () => ({ installations: [], executions: [], deployItems: [] });
  let roots: readonly Node[] = [];
  let wake = (): void => undefined;
  const view = terminal.isLive ? liveView(options, stopwatch) : plainView(options, stopwatch, startedAt);
  const check = (): void => {
    const collected = current();
    stopwatch.observe(collected, clock.now());
    roots = options.rootsIn ? options.rootsIn(collected) : treesOf(collected, options.name);
    view.changed(roots);
    if (options.isOver(roots, collected)) wake();
  };
  const over = new Promise<void>((resolve) => {
    wake = resolve;
    signal.addEventListener('abort', wake, { once: true });
    if (signal.aborted) resolve();
  });
  options.onReady?.(view.say);
  try {
    const following = await watchObjects(options.caches, options.namespace, watching.signal, () => {
      check();
    });
    current = () => following.current();
    check();
    await Promise.race([over, view.run(watching.signal)]);
  } finally {
    watching.abort(new Error('done'));
    view.finish(roots);
    signal.removeEventListener('abort', wake);
  }
  return roots;
}

interface View {
  changed(roots: readonly Node[]): void;
  readonly say: (text: string) => void;
  /** Redraws until the signal aborts; does not resolve before. */
  run(signal: AbortSignal): Promise<void>;
  finish(roots: readonly Node[]): void;
}

function liveView({ terminal, clock }: ProgressOptions, stopwatch: Stopwatch): View {
  const block = createLiveBlock(terminal);
  let roots: readonly Node[] = [];
  let frame = 0;
  const lines = (turn?: number): string[] =>
    treeLines(roots, {
      paint: terminal.paint,
      columns: terminal.columns,
      now: clock.wall(),
      elapsed: (node) => stopwatch.elapsed(node, clock.now()),
      ...(turn !== undefined && { frame: turn }),
    });
  return {
    changed(next) {
      roots = next;
    },
    say: (text) => {
      block.above(text);
    },
    async run(signal) {
      while (!signal.aborted) {
        block.draw(lines(frame++));
        await sleep(clock, FRAME_MS, signal).catch(() => undefined);
      }
    },
    finish(last) {
      roots = last;
      block.finish(lines());
    },
  };
}

function plainView({ terminal, clock }: ProgressOptions, stopwatch: Stopwatch, startedAt: number): View {
  let before: ReadonlyMap<string, string> | undefined;
  let printed: ReadonlyMap<string, string> = new Map();
  return {
    changed(roots) {
      const after = phasesOf(roots);
      const problems = problemsOf(roots);
      // Phases from before the start are not printed, but problems are.
      before ??= after;
      const at = elapsedText(clock.now() - startedAt, true).padStart(6);
      for (const [path, phase] of after) {
        if (phase !== before.get(path)) terminal.print(`${at}  ${path}: ${phase}`);
        const problem = problems.get(path);
        if (problem !== undefined && problem !== printed.get(path))
          terminal.print(`${at}  ${path}: ${phase}, ${problem}`);
      }
      before = after;
      printed = new Map([...printed, ...problems]);
    },
    say: (text) => {
      terminal.warn(text.trimEnd());
    },
    run: () => new Promise(() => undefined),
    finish(roots) {
      if (roots.length === 0) return;
      const elapsed = (node: Node): number | undefined => stopwatch.elapsed(node, clock.now());
      terminal.print('');
      for (const line of treeLines(roots, {
        paint: terminal.paint,
        columns: Infinity,
        now: clock.wall(),
        elapsed,
      }))
        terminal.print(line);
    },
  };
}

/** The phase of every node that has one, keyed by path, for example `DeployItem hello/web/server`. */
export const phasesOf = (roots: readonly Node[]): ReadonlyMap<string, string> =>
  byPath(roots, ({ phase }) => phase);

/** Problems that running jobs retry, keyed by path. Errors of ended jobs are shown in the tree. */
export const problemsOf = (roots: readonly Node[]): ReadonlyMap<string, string> =>
  byPath(roots, (node) => (node.condition === 'running' && !isWaiting(node) ? noteOf(node) : ''));

/** Whether the node waits for objects next to it or below it, which are shown themselves. */
const isWaiting = ({ object: { status } }: Node): boolean =>
  (status?.conditions ?? []).some(({ type }) => type === conditionTypes.Waiting);

/** Omits empty values. */
function byPath(roots: readonly Node[], textOf: (node: Node) => string): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  const visit = (node: Node, above: string): void => {
    // An execution has the same name as its installation, so the name is not repeated.
    const path = node.kind === 'Execution' ? above : above === '' ? node.title : `${above}/${node.title}`;
    const text = textOf(node);
    if (text !== '') texts.set(`${node.kind} ${path}`, text);
    for (const child of node.children) visit(child, path);
  };
  for (const root of roots) visit(root, '');
  return texts;
}

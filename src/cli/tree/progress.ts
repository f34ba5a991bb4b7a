/** Shows how trees proceed: redrawn in place on a terminal, else a line for each change of phase and each new trouble. */
import { conditionTypes } from '../../api/conditions.ts';
import { sleep, type Clock } from '../../lib/clock.ts';
import type { Caches } from '../../runtime/types.ts';
import { follow, type Collected } from './collect.ts';
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
  /** What to show of all that is there; default the trees of installations. */
  readonly rootsIn?: (collected: Collected) => readonly Node[];
  /** Ends the showing early; what is there then is the result. */
  readonly signal: AbortSignal;
  /** Whether there is nothing more to wait for; asked after each change. */
  readonly isOver: (roots: readonly Node[], collected: Collected) => boolean;
  /** Called with a function that writes lines without disturbing the tree. */
  readonly onReady?: (say: (text: string) => void) => void;
}

const FRAME_MS = 100;

/** @returns the trees as they were at the end */
export async function showProgress(options: ProgressOptions): Promise<readonly Node[]> {
  const { terminal, clock, signal } = options;
  const watching = new AbortController();
  const stopwatch = new Stopwatch();
  const startedAt = clock.now();
  let current: () => Collected = () => ({ installations: [], executions: [], deployItems: [] });
  let roots: readonly Node[] = [];
  let wake = (): void => undefined;
  const view = terminal.isLive ? liveView(options, stopwatch) : plainView(options, stopwatch, startedAt);
  const look = (): void => {
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
    const following = await follow(options.caches, options.namespace, watching.signal, () => {
      look();
    });
    current = () => following.current();
    look();
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
  /** Redraws until the signal aborts; never ends before. */
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
  let told: ReadonlyMap<string, string> = new Map();
  return {
    changed(roots) {
      const after = phasesOf(roots);
      const troubles = troublesOf(roots);
      // What was there before is no news; what it lacks still is.
      before ??= after;
      const at = elapsedText(clock.now() - startedAt, true).padStart(6);
      for (const [path, phase] of after) {
        if (phase !== before.get(path)) terminal.print(`${at}  ${path}: ${phase}`);
        const trouble = troubles.get(path);
        if (trouble !== undefined && trouble !== told.get(path))
          terminal.print(`${at}  ${path}: ${phase}, ${trouble}`);
      }
      before = after;
      told = new Map([...told, ...troubles]);
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

/** `DeployItem hello/web/server` → phase, for every node that has one. */
export const phasesOf = (roots: readonly Node[]): ReadonlyMap<string, string> =>
  byPath(roots, ({ phase }) => phase);

/** The same → what a running job has met and tries again. Ends tell their reasons in the tree. */
export const troublesOf = (roots: readonly Node[]): ReadonlyMap<string, string> =>
  byPath(roots, (node) => (node.condition === 'running' && !isWaiting(node) ? noteOf(node) : ''));

/** For objects beside or below it, which speak for themselves. */
const isWaiting = ({ object: { status } }: Node): boolean =>
  (status?.conditions ?? []).some(({ type }) => type === conditionTypes.Waiting);

/** What is empty is left out. */
function byPath(roots: readonly Node[], textOf: (node: Node) => string): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  const visit = (node: Node, above: string): void => {
    // An execution is called like its installation; repeating the name would say nothing.
    const path = node.kind === 'Execution' ? above : above === '' ? node.title : `${above}/${node.title}`;
    const text = textOf(node);
    if (text !== '') texts.set(`${node.kind} ${path}`, text);
    for (const child of node.children) visit(child, path);
  };
  for (const root of roots) visit(root, '');
  return texts;
}

/** `espalier demo`: runs everything in one process and installs a sample landscape. */
import { readFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import { dataObjectKind, type DataObject } from '../../../api/kinds/dataobject.ts';
import { systemClock } from '../../../lib/clock.ts';
import { largest } from '../../../lib/lists.ts';
import { withCluster } from '../../cluster.ts';
import { printYaml } from '../../terminal/documents.ts';
import type { Embedded } from '../../composition/embedded.ts';
import { withEmbeddedLandscaper } from '../../composition/embedded-landscaper.ts';
import { CommandError, exitCodes } from '../../errors.ts';
import type { Landscaper } from '../../composition/landscaper.ts';
import { applyVerbosity, loggerFor, type LogOptions } from '../../logging.ts';
import { applyAll } from '../../objects.ts';
import { elapsedText } from '../../tree/print.ts';
import { showProgress } from '../../tree/progress.ts';
import { sample, sampleObjects } from './sample.ts';
import { consoleLines, withConsole } from './with-console.ts';
import { quoted, selfCommand } from '../../self-command.ts';
import { aborted, onInterrupt, type Interruption } from '../../../runtime/manager/signals.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { Node } from '../../tree/tree.ts';
import { hasEnded, report } from '../installations/operation.ts';

export interface DemoOptions extends LogOptions {
  readonly port: number;
  readonly print?: true;
  readonly targetKubeconfig?: string;
  readonly exit?: true;
}

/** A landscape that takes longer is stuck. */
const DEADLINE_MS = 5 * 60_000;

export async function demo(options: DemoOptions, terminal: Terminal): Promise<number> {
  applyVerbosity(terminal, options);
  if (options.print) {
    terminal.print(printYaml(await sampleObjects(targetKubeconfig(options.targetKubeconfig))));
    return exitCodes.ok;
  }
  const interruption = onInterrupt();
  const lines = new LogLines(terminal);
  const log = loggerFor(options, { level: 'error', format: 'text' }, lines);
  try {
    terminal.print(terminal.paint.dim('Starting an API server, the controllers and the deployers …'));
    const { port } = options;
    return await withEmbeddedLandscaper(
      { port, log, simulate: true, namespace: sample.namespace },
      {},
      ({ embedded, landscaper }) => runDemo({ options, terminal, interruption, lines, embedded, landscaper }),
    );
  } finally {
    interruption.release();
  }
}

interface Stage {
  readonly options: DemoOptions;
  readonly terminal: Terminal;
  readonly interruption: Interruption;
  readonly lines: LogLines;
  readonly embedded: Embedded;
  readonly landscaper: Landscaper;
}

async function runDemo(stage: Stage): Promise<number> {
  const { terminal, interruption, embedded, landscaper } = stage;
  const { paint } = terminal;
  terminal.print(`Installing ${paint.bold(sample.installation)} in namespace ${sample.namespace}:\n`);
  await applyAll(landscaper.client, await sampleObjects(embedded.kubeconfig));
  const startedAt = systemClock.now();
  const root = await watch(stage);
  const took = elapsedText(systemClock.now() - startedAt, true);
  if (interruption.signal.aborted) return exitCodes.failed;
  if (!root || !hasEnded(root))
    throw new CommandError(
      `the landscape was not ready within ${elapsedText(DEADLINE_MS, false)}; the tree shows why`,
    );
  terminal.print('');
  const code = report(root, terminal);
  if (code === exitCodes.ok) {
    const url = await landscaper.client.get<DataObject>(
      dataObjectKind,
      `${sample.namespace}/${sample.dataObject}`,
    );
    terminal.print(
      `Installed in ${took}. It exports ${paint.bold(sample.dataObject)}: ${paint.cyan(String(url.data))}`,
    );
  }
  const isServing = terminal.isLive && !stage.options.exit;
  if (!isServing) {
    terminal.print(nextCommands());
    return code;
  }
  await withConsole(embedded.kubeconfigFile, terminal, async (link) => {
    terminal.print(whileServing(embedded, code));
    for (const line of consoleLines(link, paint)) terminal.print(line);
    terminal.print(`Serving ${paint.cyan(embedded.url)}; press Ctrl-C to stop.`);
    await aborted(interruption.signal);
    terminal.print('\nStopping …');
  });
  return exitCodes.ok;
}

/** Uses a connection of its own, like any other client. */
async function watch({ terminal, interruption, lines, embedded }: Stage): Promise<Node | undefined> {
  const ending = new AbortController();
  interruption.signal.addEventListener('abort', () => {
    ending.abort();
  });
  const cancel = systemClock.at(systemClock.now() + DEADLINE_MS, () => {
    ending.abort();
  });
  try {
    const [root] = await withCluster({ kubeconfig: embedded.kubeconfigFile }, terminal, (cluster) =>
      showProgress({
        terminal,
        ...cluster,
        name: sample.installation,
        signal: ending.signal,
        isOver: ([node]) => node !== undefined && hasEnded(node),
        onReady: (say) => {
          lines.say = say;
        },
      }),
    );
    return root;
  } finally {
    lines.say = undefined;
    cancel();
  }
}

// ---------------------------------------------------------------- closing message

function whileServing({ kubeconfigFile }: Embedded, code: number): string {
  const self = selfCommand();
  const name = sample.installation;
  const commands =
    code === exitCodes.ok
      ? [
          'kubectl get installations,executions,deployitems',
          'kubectl get configmap web-settings -o yaml',
          `${self} installations reconcile ${name} --wait`,
        ]
      : [
          `${self} installations inspect ${name} --show-failed`,
          'kubectl get events',
          `${self} installations reconcile ${name} --wait`,
        ];
  return [
    '',
    'Try in another terminal:',
    '',
    `  export KUBECONFIG=${quoted(kubeconfigFile)}`,
    ...commands.map((c) => `  ${c}`),
    '',
  ].join('\n');
}

function nextCommands(): string {
  const self = selfCommand();
  const rows = [
    [`${self} demo --print`, 'the objects of this landscape'],
    [`${self} dev`, 'a server of your own to apply them to'],
    [`${self} new landscape shop`, 'a landscape of your own, to apply to it'],
    [`${self} --help`, 'all commands'],
  ] as const;
  const width = largest(rows.map(([command]) => command.length));
  return ['', 'Try next:', '', ...rows.map(([command, why]) => `  ${command.padEnd(width)}   # ${why}`)].join(
    '\n',
  );
}

/** @throws CommandError */
function targetKubeconfig(file: string | undefined): string {
  if (file === undefined)
    return '# put the kubeconfig of the target cluster here, or pass --target-kubeconfig\n';
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code = 'error' } = error as NodeJS.ErrnoException;
    throw new CommandError(`cannot read ${file} (${code}); name the kubeconfig of the target cluster`, {
      cause: error,
    });
  }
}

/** Writes log lines above the tree, so that they do not disturb it. */
class LogLines extends Writable {
  readonly #terminal: Terminal;
  say: ((text: string) => void) | undefined;

  constructor(terminal: Terminal) {
    super({ decodeStrings: false });
    this.#terminal = terminal;
  }

  override _write(chunk: unknown, _encoding: string, done: () => void): void {
    const text = String(chunk).trimEnd();
    if (this.say) this.say(text);
    else this.#terminal.warn(text);
    done();
  }
}

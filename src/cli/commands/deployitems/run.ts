/** `espalier deployitems run`: carries out deploy items without a host cluster, by the same deployers as everywhere. */
import { deployItemKind, type DeployItem } from '../../../api/kinds/deployitem.ts';
import { randomUuid } from '../../../lib/uuid.ts';
import { secureRng } from '../../../lib/secure-rng.ts';
import { isObject, type Fields, type View } from '../../../lib/objects.ts';
import { parseYaml, toYaml } from '../../../lib/yaml.ts';
import { secretKind } from '../../../landscape/world.ts';
import { getIfThere } from '../../../runtime/transport/read.ts';
import { onInterrupt, type Interruption } from '../../../runtime/manager/signals.ts';
import { STDIN } from '../blueprints/sources.ts';
import { withCluster, type Cluster } from '../../cluster.ts';
import { defaults, readConfiguration } from '../../configuration/configuration.ts';
import { printJson } from '../../terminal/documents.ts';
import { withEmbeddedLandscaper } from '../../composition/embedded-landscaper.ts';
import { CommandError, exitCodes, UsageError } from '../../errors.ts';
import { mustBeWritable, nameOf, readYamlDocuments, writePrivateFile } from '../../files.ts';
import { unreadFieldsOf } from '../../composition/item-configurations.ts';
import { interrupt, nextSteps, trigger, type Item, type Work } from './drive.ts';
import { keyOfItem, populate, type Population } from './host.ts';
import { readInput, type RunInput, type WantedItem } from './input.ts';
import { openState, type StateFile } from './state.ts';
import { applyVerbosity, loggerFor, type LogOptions } from '../../logging.ts';
import { deployerNames, itemTypes } from '../../names.ts';
import { showProgress } from '../../tree/progress.ts';
import { targetKubeconfig } from '../targets/kubeconfig.ts';
import { asideOf, type Terminal } from '../../terminal/terminal.ts';
import { itemTrees, type Node } from '../../tree/tree.ts';

export interface RunItemsOptions extends LogOptions {
  readonly targetKubeconfig?: string;
  readonly targetContext?: string;
  /** `name=file` */
  readonly target?: readonly string[];
  readonly delete?: true;
  /** false: nothing is remembered. */
  readonly state?: string | false;
  readonly exports?: string;
  readonly output: 'yaml' | 'json';
  readonly config?: string;
}

/** @returns the exit code: 1 when an item has failed, or when somebody interrupted it */
export async function runItems(file: string, options: RunItemsOptions, terminal: Terminal): Promise<number> {
  applyVerbosity(terminal, options);
  const input = readInput(readYamlDocuments(file), nameOf(file));
  if (options.exports !== undefined) mustBeWritable(options.exports);
  const log = loggerFor(options, { level: 'error', format: 'text' });
  const configuration = options.config === undefined ? defaults : readConfiguration(options.config, log);
  refuseUnserved(input.items);
  warnOfUnread(input.items, terminal);
  const state = stateFor(file, input, options, terminal);
  const population: Population = {
    input,
    ...kubeconfigs(options),
    statusOf: statusFrom(state),
  };
  const forgotten = options.delete ? input.items.filter((item) => isForgotten(item, state)) : [];
  warnOfForgotten(forgotten, state, terminal);
  const interruption = onInterrupt();
  try {
    return await withEmbeddedLandscaper(
      { simulate: false, log },
      // The deployers alone: the core is played here.
      {
        controllers: [],
        deployers: DEPLOYERS,
        configuration: { ...configuration, installsCrds: true },
      },
      ({ embedded }) =>
        withCluster({ kubeconfig: embedded.kubeconfigFile }, terminal, async (cluster) => {
          await populate(cluster.client, population);
          return run({ cluster, input, state, forgotten, interruption, options, terminal });
        }),
    );
  } finally {
    interruption.release();
  }
}

// ---------------------------------------------------------------- before anything is started

/** All but those that need a host cluster, because nothing runs pods here. */
const DEPLOYERS = deployerNames.filter((name) => name !== 'container');

function refuseUnserved(items: readonly WantedItem[]): void {
  const types = DEPLOYERS.map((name) => itemTypes[name]);
  const stranger = items.find(({ spec }) => !types.includes(spec.type));
  if (!stranger) return;
  const { name, spec } = stranger;
  if (spec.type === itemTypes.container) {
    throw new UsageError(
      `DeployItem ${name} is of type ${spec.type}, which runs in pods, and there are none without a host cluster; ` +
        'apply it to a cluster on which Espalier runs',
    );
  }
  throw new UsageError(
    `DeployItem ${name} is of type ${spec.type}, which no deployer here serves; served are ${types.join(', ')}`,
  );
}

function warnOfUnread(items: readonly WantedItem[], terminal: Terminal): void {
  const configured = items.map(({ name, spec }) => ({ name, type: spec.type, config: spec.config }));
  const label = terminal.paintError.yellow('warning:');
  for (const line of unreadFieldsOf(configured)) terminal.warn(`${label} ${line}`);
}

function stateFor(file: string, input: RunInput, options: RunItemsOptions, terminal: Terminal): StateFile {
  const { state } = options;
  const path = state === false ? undefined : (state ?? (file === STDIN ? undefined : `${file}.state.json`));
  if (path === undefined && !options.delete)
    terminal.warn(
      terminal.paintError.dim(
        'nothing is remembered of this run; with --state FILE a later one can change and delete what it made',
      ),
    );
  const opened = openState(path);
  const wanted = new Set(input.items.map(keyOfItem));
  const gone = opened.items.filter((item) => !wanted.has(item));
  if (gone.length > 0)
    terminal.warn(
      `${terminal.paintError.yellow('warning:')} ${gone.join(', ')} of an earlier run: no longer in ${file}, and left ` +
        'as it is; put it back and run with --delete to take it away',
    );
  return opened;
}

const statusFrom =
  (state: StateFile) =>
  (item: WantedItem): Fields | undefined =>
    state.get(keyOfItem(item)) ?? item.providerStatus;

/** What a mock made is on no target. */
const isForgotten = (item: WantedItem, state: StateFile): boolean =>
  item.spec.type !== itemTypes.mock && statusFrom(state)(item) === undefined;

/** Without its status a deployer cannot tell what an item made, but for releases of Helm, and lets it go. */
function warnOfForgotten(items: readonly WantedItem[], { path }: StateFile, terminal: Terminal): void {
  if (items.length === 0) return;
  const names = items.map(({ name }) => name).join(', ');
  terminal.warn(
    `${terminal.paintError.yellow('warning:')} nothing is known of an earlier run of ${names}` +
      `${path === undefined ? '' : `, for ${path} does not tell`}; objects that it made stay, but for releases of Helm. To ` +
      'take them away, give the state of that run with --state, or run once more without --delete first, which finds them again',
  );
}

function kubeconfigs({
  targetKubeconfig: file,
  targetContext: context,
  target = [],
}: RunItemsOptions): Pick<Population, 'defaultKubeconfig' | 'kubeconfigs'> {
  // Files that a kubeconfig names are at hand here, which they are not for deployers elsewhere.
  const read = (path: string, chosen?: string): string =>
    targetKubeconfig({ file: path, context: chosen, isFlattened: true });
  return {
    defaultKubeconfig: file === undefined ? undefined : read(file, context),
    kubeconfigs: new Map(
      target.map((text) => {
        const at = text.indexOf('=');
        if (at < 1) throw new UsageError(`--target: write it as NAME=FILE, instead of ${text}`);
        return [text.slice(0, at), read(text.slice(at + 1))] as const;
      }),
    ),
  };
}

// ---------------------------------------------------------------- the run

interface Stage {
  readonly cluster: Cluster;
  readonly input: RunInput;
  readonly state: StateFile;
  /** Items to delete of which no earlier run is known. */
  readonly forgotten: readonly WantedItem[];
  readonly interruption: Interruption;
  readonly options: RunItemsOptions;
  readonly terminal: Terminal;
}

async function run(stage: Stage): Promise<number> {
  const { cluster, input, state, interruption, options, terminal } = stage;
  const work: Work = {
    dag: input.dag,
    jobID: randomUuid(secureRng),
    direction: options.delete ? 'remove' : 'apply',
  };
  const given = new Set<string>();
  const ending = new AbortController();
  let failure: unknown;
  let isComplete = false;
  const doing = (promise: Promise<void>): void => {
    promise.catch((error: unknown) => {
      failure ??= error;
      ending.abort();
    });
  };
  const onInterrupted = (): void => {
    terminal.warn('interrupting …');
    ending.abort();
  };
  interruption.signal.addEventListener('abort', onInterrupted);
  const look = (roots: readonly Node[]): boolean => {
    const items = itemsIn(roots, input);
    remember(items, input, state, given);
    if (interruption.signal.aborted) return true;
    // Until all are in view, one that is missing has only not been heard of yet.
    isComplete ||= items.size === input.items.length;
    if (!isComplete) return false;
    const { trigger: names, isOver } = nextSteps(work, items);
    for (const name of names) {
      const item = items.get(name);
      if (!item || given.has(name)) continue;
      given.add(name);
      doing(trigger(item, work, cluster));
    }
    return isOver;
  };
  const roots = await showProgress({
    ...{ terminal: asideOf(terminal), clock: cluster.clock, caches: cluster.caches, namespace: undefined },
    rootsIn: itemTrees,
    signal: ending.signal,
    isOver: look,
  });
  if (failure !== undefined) throw failure as Error;
  if (interruption.signal.aborted) return interrupted(roots, work, stage);
  return conclude(roots, stage);
}

function itemsIn(roots: readonly Node[], { items }: RunInput): ReadonlyMap<string, Item> {
  const byKey = new Map(roots.map(({ namespace, name, object }) => [`${namespace}/${name}`, object]));
  return new Map(
    items.flatMap((wanted) => {
      const object = byKey.get(keyOfItem(wanted));
      return object ? [[wanted.name, object as View<DeployItem>] as const] : [];
    }),
  );
}

/** An item that was told to go and is not there any more has taken everything with it. */
function remember(
  items: ReadonlyMap<string, Item>,
  { items: wanted }: RunInput,
  state: StateFile,
  given: ReadonlySet<string>,
): void {
  for (const one of wanted) {
    const status = items.get(one.name)?.status?.providerStatus;
    if (items.has(one.name)) {
      if (isObject(status)) state.set(keyOfItem(one), status);
    } else if (given.has(one.name)) state.set(keyOfItem(one), undefined);
  }
}

/** Deployers let go as soon as somebody else has ended their job; what they noted until then counts. */
async function interrupted(roots: readonly Node[], work: Work, stage: Stage): Promise<number> {
  const { cluster, input, state, options } = stage;
  for (const item of itemsIn(roots, input).values())
    if (item.status?.jobID === work.jobID && item.status.jobIDFinished !== work.jobID)
      await interrupt(item, cluster);
  for (const one of input.items) {
    const item = await getIfThere(cluster.client, deployItemKind, keyOfItem(one));
    if (isObject(item?.status?.providerStatus)) state.set(keyOfItem(one), item.status.providerStatus);
  }
  const where = state.path === undefined ? '' : `, and ${state.path} remembers what is there`;
  const way = options.delete
    ? 'run it again to go on'
    : 'run it again to go on, or with --delete to take it back';
  throw new CommandError(`interrupted${where}; ${way}`);
}

async function conclude(roots: readonly Node[], stage: Stage): Promise<number> {
  const { input, options, terminal } = stage;
  const items = itemsIn(roots, input);
  const isOk = options.delete
    ? items.size === 0
    : input.items.every(({ name }) => items.get(name)?.status?.phase === 'Succeeded');
  for (const [name, item] of items) {
    const { phase, lastError } = item.status ?? {};
    if (phase !== 'Failed' && phase !== 'DeleteFailed') continue;
    const why = lastError?.message || 'no reason given';
    terminal.warn(`${terminal.paintError.red(`DeployItem ${name} ${phase}:`)} ${why}`);
  }
  const waiting = [...items].filter(([, { status }]) => !status?.phase).map(([name]) => name);
  if (!isOk && waiting.length > 0) terminal.warn(`not begun because of that: ${waiting.join(', ')}`);
  if (!options.delete) await writeExports(items, stage);
  else if (isOk) {
    const gone = input.items.filter((item) => !stage.forgotten.includes(item)).map(({ name }) => name);
    if (gone.length > 0) asideOf(terminal).print(`uninstalled: ${gone.join(', ')}`);
  }
  return isOk ? exitCodes.ok : exitCodes.failed;
}

/** By the names of items; nothing when none exports anything. */
async function writeExports(
  items: ReadonlyMap<string, Item>,
  { cluster: { client }, options, terminal }: Stage,
): Promise<void> {
  const values: Record<string, unknown> = {};
  for (const [name, { status, metadata }] of items) {
    const ref = status?.exportRef;
    if (!ref || status.phase !== 'Succeeded') continue;
    const secret = await client.get(secretKind, `${ref.namespace ?? metadata.namespace ?? ''}/${ref.name}`);
    const text = Buffer.from(secret.data?.['config'] ?? '', 'base64').toString('utf8');
    values[name] = parseYaml(text, { integers: 'exact' });
  }
  const isEmpty = Object.keys(values).length === 0;
  if (isEmpty && options.exports === undefined) return;
  const text = options.output === 'json' ? printJson(values) : toYaml(values).trimEnd();
  if (options.exports === undefined) terminal.print(text);
  else {
    writePrivateFile(options.exports, `${text}\n`);
    terminal.warn(`wrote the exports to ${options.exports}`);
  }
}

/**
 * `espalier deployitems run`: processes deploy items without a host cluster, with the same deployers as in a
 * cluster.
 */
import type { DeployItem } from '../../../api/kinds/deployitem.ts';
import type { Execution } from '../../../api/kinds/execution.ts';
import { sleep } from '../../../lib/clock.ts';
import { randomUuid } from '../../../lib/uuid.ts';
import { secureRng } from '../../../lib/secure-rng.ts';
import { isObject, type Fields, type View } from '../../../lib/objects.ts';
import { parseYaml, toYaml } from '../../../lib/yaml.ts';
import { secretKind } from '../../../landscape/world.ts';
import { ensureCrds } from '../../../landscape/ensure-crds.ts';
import { keyOf } from '../../../runtime/keys.ts';
import { onInterrupt, type Interruption } from '../../../runtime/manager/signals.ts';
import { STDIN } from '../blueprints/sources.ts';
import { withCluster, type Cluster } from '../../cluster.ts';
import { defaults, readConfiguration } from '../../configuration/configuration.ts';
import { printJson } from '../../terminal/documents.ts';
import { withEmbeddedLandscaper } from '../../composition/embedded-landscaper.ts';
import { CommandError, exitCodes, UsageError } from '../../errors.ts';
import { mustBeWritable, nameOf, readYamlDocuments, writePrivateFile } from '../../files.ts';
import { unreadFieldsOf } from '../../composition/item-configurations.ts';
import { interruptJob, isOver, startJob, type Job } from './executions.ts';
import { keyOfItem, createHostObjects, type HostObjects } from './host.ts';
import { readInput, type RunInput, type WantedItem } from './input.ts';
import { openState, type StateFile } from './state.ts';
import { applyVerbosity, loggerFor, type LogOptions } from '../../logging.ts';
import { deployerNames, itemTypes } from '../../names.ts';
import { showProgress } from '../../tree/progress.ts';
import { targetKubeconfig } from '../targets/kubeconfig.ts';
import { withProgressOnStderr, type Terminal } from '../../terminal/terminal.ts';
import { collect, type Collected } from '../../tree/collect.ts';
import { itemTrees } from '../../tree/tree.ts';

export interface RunItemsOptions extends LogOptions {
  readonly targetKubeconfig?: string;
  readonly targetContext?: string;
  /** `name=file` */
  readonly target?: readonly string[];
  readonly delete?: true;
  /** false: no state file. */
  readonly state?: string | false;
  readonly exports?: string;
  readonly output: 'yaml' | 'json';
  readonly config?: string;
}

/** @returns the exit code: 1 if an item has failed, or if the user interrupted the run */
export async function runItems(file: string, options: RunItemsOptions, terminal: Terminal): Promise<number> {
  applyVerbosity(terminal, options);
  const input = readInput(readYamlDocuments(file), nameOf(file));
  if (options.exports !== undefined) mustBeWritable(options.exports);
  const log = loggerFor(options, { level: 'error', format: 'text' });
  const configuration = options.config === undefined ? defaults : readConfiguration(options.config, log);
  refuseUnhandled(input.items);
  warnAboutUnreadFields(input.items, terminal);
  const state = stateFor(file, input, options, terminal);
  const hostObjects: HostObjects = {
    input,
    ...kubeconfigs(options),
    statusOf: statusFrom(state),
  };
  const itemsWithoutState = options.delete ? input.items.filter((item) => hasNoState(item, state)) : [];
  warnAboutMissingState(itemsWithoutState, state, terminal);
  const interruption = onInterrupt();
  try {
    let executions: readonly string[] = [];
    return await withEmbeddedLandscaper(
      { simulate: false, log },
      {
        controllers: ['execution'],
        deployers: DEPLOYERS,
        configuration,
        crds: false,
        prepare: (embedded) =>
          withCluster({ kubeconfig: embedded.kubeconfigFile }, terminal, async ({ client, clock }) => {
            await ensureCrds(client, clock, log);
            executions = await createHostObjects(client, hostObjects);
            return undefined;
          }),
      },
      ({ embedded }) =>
        withCluster({ kubeconfig: embedded.kubeconfigFile }, terminal, (cluster) =>
          run({ cluster, input, executions, state, itemsWithoutState, interruption, options, terminal }),
        ),
    );
  } finally {
    interruption.release();
  }
}

// ---------------------------------------------------------------- checks before the start

/** All deployers except those that need a host cluster with running pods. */
const DEPLOYERS = deployerNames.filter((name) => name !== 'container');

function refuseUnhandled(items: readonly WantedItem[]): void {
  const types = DEPLOYERS.map((name) => itemTypes[name]);
  const unhandled = items.find(({ spec }) => !types.includes(spec.type));
  if (!unhandled) return;
  const { name, spec } = unhandled;
  if (spec.type === itemTypes.container) {
    throw new UsageError(
      `DeployItem ${name} is of type ${spec.type}, which needs pods in a host cluster; ` +
        'apply it to a cluster on which Espalier runs',
    );
  }
  throw new UsageError(
    `DeployItem ${name} is of type ${spec.type}, which no deployer in this program handles; known types are ${types.join(', ')}`,
  );
}

function warnAboutUnreadFields(items: readonly WantedItem[], terminal: Terminal): void {
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
        'this run writes no state file; with --state FILE a later run can change and delete the objects of this one',
      ),
    );
  const opened = openState(path);
  const wanted = new Set(input.items.map(keyOfItem));
  const gone = opened.items.filter((item) => !wanted.has(item));
  if (gone.length > 0)
    terminal.warn(
      `${terminal.paintError.yellow('warning:')} ${gone.join(', ')} of an earlier run: no longer in ${file}, but not ` +
        'deleted; put it back and run with --delete to uninstall it',
    );
  return opened;
}

const statusFrom =
  (state: StateFile) =>
  (item: WantedItem): Fields | undefined =>
    state.get(keyOfItem(item)) ?? item.providerStatus;

/** Items of the mock deployer have nothing installed. */
const hasNoState = (item: WantedItem, state: StateFile): boolean =>
  item.spec.type !== itemTypes.mock && statusFrom(state)(item) === undefined;

/**
 * Warns about items without state: without it, a deployer does not know which objects an item created, except for
 * Helm releases, and does not delete them.
 */
function warnAboutMissingState(items: readonly WantedItem[], { path }: StateFile, terminal: Terminal): void {
  if (items.length === 0) return;
  const names = items.map(({ name }) => name).join(', ');
  terminal.warn(
    `${terminal.paintError.yellow('warning:')} there is no state of an earlier run of ${names}` +
      `${path === undefined ? '' : `in ${path}`}; objects that it created are not deleted, except for Helm releases. To ` +
      'delete them, give the state of that run with --state, or run once without --delete first to find them again',
  );
}

function kubeconfigs({
  targetKubeconfig: file,
  targetContext: context,
  target = [],
}: RunItemsOptions): Pick<HostObjects, 'defaultKubeconfig' | 'kubeconfigs'> {
  // The files that a kubeconfig references are readable here, unlike for deployers in a cluster.
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
  /** Keys of the executions. */
  readonly executions: readonly string[];
  readonly state: StateFile;
  /** Items to delete without state of an earlier run. */
  readonly itemsWithoutState: readonly WantedItem[];
  readonly interruption: Interruption;
  readonly options: RunItemsOptions;
  readonly terminal: Terminal;
}

async function run(stage: Stage): Promise<number> {
  const { cluster, input, executions, state, interruption, options, terminal } = stage;
  const job: Job = { jobID: randomUuid(secureRng), direction: options.delete ? 'remove' : 'apply' };
  const ending = new AbortController();
  let starting: Promise<void> | undefined;
  const start = async (): Promise<void> => {
    for (const key of executions) await startJob(key, job, cluster);
  };
  const onInterrupted = (): void => {
    terminal.warn('interrupting …');
    ending.abort();
  };
  interruption.signal.addEventListener('abort', onInterrupted);
  const onChange = (collected: Collected): boolean => {
    const items = itemsIn(collected, input);
    storeStatus(items, input, state, starting !== undefined);
    if (interruption.signal.aborted) return true;
    if (starting) return isOver(job, executions, collected);
    // Until the caches contain all objects, a missing object may only be delayed.
    if (items.size < input.items.length || collected.executions.length < executions.length) return false;
    starting = start();
    starting.catch(() => {
      ending.abort();
    });
    return false;
  };
  await showProgress({
    terminal: withProgressOnStderr(terminal),
    clock: cluster.clock,
    caches: cluster.caches,
    namespace: undefined,
    rootsIn: itemTrees,
    signal: ending.signal,
    isOver: (_roots, collected) => onChange(collected),
  });
  await starting;
  if (!interruption.signal.aborted) return reportResult(await collect(cluster.client, undefined), stage);
  if (starting) await endJobs(job, stage);
  throw interruptedError(state, options);
}

function itemsIn({ deployItems }: Collected, { items }: RunInput): ReadonlyMap<string, View<DeployItem>> {
  const byKey = new Map(deployItems.map((item) => [keyOf(item), item]));
  return new Map(
    items.flatMap((wanted) => {
      const item = byKey.get(keyOfItem(wanted));
      return item ? [[wanted.name, item] as const] : [];
    }),
  );
}

/**
 * Stores the provider status of the items. @param isStarted whether missing items were uninstalled, instead of not
 * created yet
 */
function storeStatus(
  items: ReadonlyMap<string, View<DeployItem>>,
  { items: wanted }: RunInput,
  state: StateFile,
  isStarted: boolean,
): void {
  for (const one of wanted) {
    const item = items.get(one.name);
    if (isObject(item?.status?.providerStatus)) state.set(keyOfItem(one), item.status.providerStatus);
    else if (!item && isStarted) state.set(keyOfItem(one), undefined);
  }
}

const POLL_MS = 50;

/** The controller ends the jobs of the items, then the deployers stop. The last status that they wrote is stored. */
async function endJobs(job: Job, { cluster, input, executions, state }: Stage): Promise<void> {
  const { client, clock } = cluster;
  for (const key of executions) await interruptJob(key, client);
  let collected = await collect(client, undefined);
  while (!isOver(job, executions, collected)) {
    await sleep(clock, POLL_MS);
    collected = await collect(client, undefined);
  }
  storeStatus(itemsIn(collected, input), input, state, true);
}

function interruptedError({ path }: StateFile, options: RunItemsOptions): CommandError {
  const where = path === undefined ? '' : `, and ${path} lists the created objects`;
  const way = options.delete
    ? 'run it again to continue'
    : 'run it again to continue, or with --delete to uninstall';
  return new CommandError(`interrupted${where}; ${way}`);
}

async function reportResult(collected: Collected, stage: Stage): Promise<number> {
  const { input, options, terminal } = stage;
  const items = itemsIn(collected, input);
  const isOk = options.delete
    ? items.size === 0
    : collected.executions.every(({ status }) => status?.phase === 'Succeeded');
  const failed = [...items].filter(([, { status }]) => isFailed(status));
  for (const [name, { status }] of failed) reportError('DeployItem', name, status, terminal);
  // Otherwise the errors of the items say enough.
  if (failed.length === 0)
    for (const { metadata, status } of collected.executions.filter((one) => isFailed(one.status)))
      reportError('Execution', metadata.name, status, terminal);
  const waiting = [...items].filter(([, { status }]) => !status?.phase).map(([name]) => name);
  if (!isOk && waiting.length > 0) terminal.warn(`not started because of that: ${waiting.join(', ')}`);
  if (!options.delete) await writeExports(items, stage);
  else if (isOk) {
    const gone = input.items
      .filter((item) => !stage.itemsWithoutState.includes(item))
      .map(({ name }) => name);
    if (gone.length > 0) withProgressOnStderr(terminal).print(`uninstalled: ${gone.join(', ')}`);
  }
  return isOk ? exitCodes.ok : exitCodes.failed;
}

const isFailed = (status: View<Execution | DeployItem>['status']): boolean =>
  status?.phase === 'Failed' || status?.phase === 'DeleteFailed';

function reportError(
  kind: string,
  name: string,
  status: View<Execution | DeployItem>['status'],
  terminal: Terminal,
): void {
  const why = status?.lastError?.message || 'no reason given';
  terminal.warn(`${terminal.paintError.red(`${kind} ${name} ${status?.phase ?? ''}:`)} ${why}`);
}

/** Writes the exports by item name; nothing if no item has exports. */
async function writeExports(
  items: ReadonlyMap<string, View<DeployItem>>,
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

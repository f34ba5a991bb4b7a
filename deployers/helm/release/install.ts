/** Installs a chart as a release. */
import { exactJson } from '../../../src/lib/exact-json.ts';
import { append } from '../../../src/lib/lists.ts';
import type { ChartDefinitions } from '../../../src/templating/helm/work.ts';
import { metadataProblem } from '../../objects/manifests/metadata.ts';
import { CRD_KIND, type KubeObject } from '../../objects/manifests/model.ts';
import { KindsNotServed, waitUntilServed, type Unserved } from '../../objects/manifests/new-kinds.ts';
import { kindsOfCrd } from '../../objects/manifests/order.ts';
import { because, recordTime, ReleaseError, said, WaitExpired, type ReleaseTarget } from './cluster.ts';
import { runHooks } from './hooks.ts';
import { existing } from './ownership.ts';
import { createAll, createIfMissing, resourcesOf, type Resource } from './resources.ts';
import { isValidName, NAME_RULE, ownedResources, recorded, render } from './revision.ts';
import type { ActionSettings, ChartInput } from './settings.ts';
import {
  createRevision,
  history,
  newestIn,
  setStatus,
  updateRevision,
  type Revision,
  type Working,
} from './storage.ts';
import { uninstall } from './uninstall.ts';
import { update } from './update.ts';
import { waitUntilReady } from './wait.ts';

interface InstallSettings extends ActionSettings {
  readonly createsNamespace: boolean;
  /** Whether a release that failed or was uninstalled is replaced. */
  readonly replaces: boolean;
}

/** @throws ReleaseError if it fails; HelmError for errors in the chart */
export async function install(
  input: ChartInput,
  settings: InstallSettings,
  target: ReleaseTarget,
): Promise<void> {
  const { name } = target;
  if (!isValidName(name)) throw new ReleaseError(`release name "${name}": ${NAME_RULE}`);
  const last = await replaced(settings, target);
  const files = await definitionFiles(input, target);
  const definitions = files.flatMap(({ resources }) => resources.map(({ object }) => object));
  const time = recordTime(target.clock);
  const info = {
    first_deployed: time,
    last_deployed: time,
    deleted: '',
    description: 'Initial install underway',
    status: 'pending-install',
  };
  const version = (last?.version ?? 0) + 1;
  const at = { revision: 1, version, isUpgrade: false, info, labels: {}, definitions };
  const revision = await render(input, at, target);
  const resources = await ownedResources(revision, target, definitions).catch((error: unknown) => {
    throw because('unable to build kubernetes objects from release manifest', error, target);
  });
  const adopted = await existing(resources, settings.takesOwnership, target).catch((error: unknown) => {
    throw because('Unable to continue with install', error, target);
  });
  await installDefinitions(files, target);
  if (settings.createsNamespace) await createNamespace(target);
  if (last && last.view.info.status !== 'failed')
    await setStatus(last, 'superseded', target, 'superseded by new release');
  await createRevision(revision, target);
  const working = { revision };
  await recorded(
    working,
    target,
    (message) => `Release "${name}" failed: ${message}`,
    () => perform(working, resources, adopted, settings, target),
    (error) => fail(working, error, settings, target),
  );
}

/** The last revision, which the new one replaces. @throws ReleaseError if the name is in use */
async function replaced({ replaces }: InstallSettings, target: ReleaseTarget): Promise<Revision | undefined> {
  const last = await newestIn(await history(target), target);
  const isOver = last && ['uninstalled', 'failed'].includes(last.view.info.status);
  if (last && !(replaces && isOver)) throw new ReleaseError('cannot re-use a name that is still in use');
  return last;
}

async function perform(
  working: Working,
  resources: readonly Resource[],
  adopted: readonly Resource[],
  { force, takesOwnership, waits, waitsForJobs = false, timeoutMs }: InstallSettings,
  target: ReleaseTarget,
): Promise<void> {
  await runHooks(working, 'pre-install', timeoutMs, target).catch((error: unknown) => {
    throw because('failed pre-install', error, target);
  });
  if (adopted.length > 0) await update(adopted, resources, target, { force, repairsCustom: takesOwnership });
  else await createAll(resources, target);
  if (waits) await waitUntilReady(resources, timeoutMs, target, { waitsForJobs });
  await runHooks(working, 'post-install', timeoutMs, target).catch((error: unknown) => {
    throw because('failed post-install', error, target);
  });
  const info = { status: 'deployed', description: 'Install complete' };
  working.revision = await updateRevision(working.revision, { info }, target);
}

async function fail(
  working: Working,
  error: Error,
  { isAtomic, timeoutMs }: InstallSettings,
  target: ReleaseTarget,
): Promise<never> {
  const message = said(error);
  if (isAtomic) {
    const settings = { waits: false, keepsHistory: false, timeoutMs };
    await uninstall(settings, target).catch((problem: unknown) => {
      const why = `an error occurred while uninstalling the release. original install error: ${message}`;
      throw because(why, problem, target);
    });
    const outcome = `release ${target.name} failed, and has been uninstalled due to atomic being set`;
    throw new ReleaseError(`${outcome}: ${message}`, { cause: error });
  }
  const description = `Release "${target.name}" failed: ${message}`;
  await setStatus(working.revision, 'failed', target, description).catch((problem: unknown) => {
    target.warn('failure of the release cannot be recorded', problem);
  });
  throw error;
}

// ---------------------------------------------------------------- before the release

/** Time for the other objects beside the definitions. */
const DEFINITIONS_MS = 60_000;

/** The objects of a CRD file. */
interface DefinitionFile {
  readonly name: string;
  readonly resources: readonly Resource[];
}

/** All CRD files are read before the first definition is created. @throws ReleaseError */
async function definitionFiles(
  { chart, values }: ChartInput,
  target: ReleaseTarget,
): Promise<readonly DefinitionFile[]> {
  const files: DefinitionFile[] = [];
  for (const file of await target.charts.chartDefinitions({ chart, values })) {
    try {
      const resources = await resourcesOf(documentsOf(file), target, { problemOf: metadataProblem });
      files.push({ name: file.name, resources });
    } catch (error) {
      throw because(`failed to install CRD ${file.name}`, error, target);
    }
  }
  return files;
}

/** CRDs are created once, and never changed. */
async function installDefinitions(files: readonly DefinitionFile[], target: ReleaseTarget): Promise<void> {
  const created: Resource[] = [];
  for (const { name, resources } of files) {
    try {
      append(created, await createIfMissing(resources, target));
    } catch (error) {
      throw because(`failed to install CRD ${name}`, error, target);
    }
  }
  const definitions = created.filter(({ object }) => object.kind === CRD_KIND);
  const unserved = await waitUntilServed(
    definitions.map(({ object, kind, key }) => ({ name: key, kind, needed: kindsOfCrd(object) })),
    target,
  );
  const others = created.filter((one) => !definitions.includes(one));
  const problem = unserved.find(({ error }) => !isConflictOfNames(error));
  if (problem) throw notServed(problem, target);
  await waitUntilReady(others, DEFINITIONS_MS, target);
}

/** Helm goes on, because the chart may not need the kind. */
const isConflictOfNames = (error: unknown): boolean =>
  error instanceof KindsNotServed && error.reason === 'NamesNotAccepted';

function notServed({ definition: { name }, error }: Unserved, target: ReleaseTarget): Error {
  const message = `CustomResourceDefinition ${name}`;
  return error instanceof KindsNotServed
    ? new WaitExpired(`${message}: ${error.message}`)
    : because(message, error, target);
}

/** @throws ReleaseError if a document cannot be read */
const documentsOf = ({ definitions }: ChartDefinitions): readonly string[] =>
  definitions.map((definition) => {
    if ('problem' in definition) throw new ReleaseError(definition.problem);
    return exactJson(definition.document);
  });

async function createNamespace(target: ReleaseTarget): Promise<void> {
  const { namespace } = target;
  const object: KubeObject = {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace, labels: { name: namespace } },
  };
  await createIfMissing(await resourcesOf([JSON.stringify(object)], target), target);
}

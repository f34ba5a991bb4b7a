/** How a chart becomes a new revision, and how an action that failed or was interrupted is recorded. */
import type { RecordInfo } from '../../../src/templating/helm/record-content.ts';
import { sizeText } from '../../../src/lib/sizes.ts';
import { metadataProblem } from '../../objects/manifests/metadata.ts';
import type { KubeObject } from '../../objects/manifests/model.ts';
import { ReleaseError, type ReleaseTarget } from './cluster.ts';
import { owned } from './ownership.ts';
import { checkMetadata, resourcesOf, type Resource } from './resources.ts';
import type { ChartInput } from './settings.ts';
import { newRevision, setStatus, type Revision, type Working } from './storage.ts';

interface NewRevision {
  /** The revision that templates see. */
  readonly revision: number;
  /** The revision that is stored. */
  readonly version: number;
  readonly isUpgrade: boolean;
  readonly info: RecordInfo;
  /** Labels of the secret of the last revision. */
  readonly labels: Readonly<Record<string, string>>;
  /** The CRDs of the chart, if the action creates those that are missing. */
  readonly definitions?: readonly KubeObject[];
}

/** Bytes that a Secret can contain. */
const MAX_RECORD = 2 ** 20;

/** The record does not fit into a Secret; another attempt cannot help. */
class RecordTooLarge extends ReleaseError {
  override readonly outlook = 'final';
}

function checkSize(record: string): void {
  const bytes = Buffer.byteLength(record, 'base64');
  if (bytes <= MAX_RECORD) return;
  throw new RecordTooLarge(
    `the record of the release has ${sizeText(bytes)}, but a Secret can contain only ${sizeText(MAX_RECORD)}: it contains the chart with all its files, the values and the objects; remove files from the chart that its templates do not read, split the chart, or set helmDeployment: false, which needs no record`,
  );
}

/** Renders the chart; nothing is stored. @throws HelmError; RecordTooLarge */
export async function render(
  { chart, values, capabilities, lookup }: ChartInput,
  { revision, version, isUpgrade, info, labels, definitions }: NewRevision,
  target: ReleaseTarget,
): Promise<Revision> {
  const { name, namespace, charts } = target;
  const release = { name, namespace, revision, isUpgrade };
  const inputs = {
    release,
    values,
    capabilities: await capabilities(),
    ...(definitions && { ownDefinitions: 'created' as const }),
    skipsSchema: true,
  };
  const read = lookup(definitions ?? []);
  const record = await charts.renderRelease({ chart, inputs, lookup: read, info, version });
  checkSize(record);
  return newRevision(record, version, labels, target);
}

/**
 * The objects of a revision as they are applied; the metadata of its hooks is checked, too.
 * @param definitions CRDs that are created before
 * @throws ReleaseError
 */
export async function ownedResources(
  { view }: Revision,
  target: ReleaseTarget,
  definitions: readonly KubeObject[] = [],
): Promise<readonly Resource[]> {
  checkMetadata(view.hooks.flatMap(({ documents }) => documents));
  const rules = { problemOf: metadataProblem, definitions };
  const resources = await resourcesOf(view.documents, target, rules);
  return resources.map((resource) => owned(resource, target));
}

const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const MAX_NAME = 53;

export const isValidName = (name: string): boolean => name.length <= MAX_NAME && NAME.test(name);

export const NAME_RULE = `invalid release name, must match regex ${NAME.source} and the length must not be longer than ${String(MAX_NAME)}`;

/** Time to record that an action was interrupted. */
const GRACE_MS = 5000;

/**
 * Runs the part of an action that follows the creation of its record, and records how it failed.
 * @param describe the description of the failure
 * @param undo called after a failure, but not after an interruption
 * @throws the error of `work`, or that of `undo`
 */
export async function recorded(
  working: Working,
  target: ReleaseTarget,
  describe: (message: string) => string,
  work: () => Promise<void>,
  undo: (error: Error) => Promise<never>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!target.signal.aborted) return undo(error as Error);
    await withGrace(target, async (late) => {
      await setStatus(working.revision, 'failed', late, describe('context canceled'));
    });
    throw error;
  }
}

/** The work gets a few seconds although the action was interrupted; its errors are not reported. */
async function withGrace(target: ReleaseTarget, work: (late: ReleaseTarget) => Promise<void>): Promise<void> {
  const end = new AbortController();
  const cancel = target.clock.at(target.clock.now() + GRACE_MS, () => {
    end.abort(new ReleaseError('the time to record the interruption is over'));
  });
  try {
    await work({ ...target, signal: end.signal });
  } catch (error) {
    target.warn('interrupted action cannot be recorded', error);
  } finally {
    cancel();
  }
}

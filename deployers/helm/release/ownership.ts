/** Which release an object belongs to, and which existing objects a release may take over. */
import { ownField } from '../../../src/lib/objects.ts';
import type { Obj } from '../../../src/runtime/types.ts';
import { inParallel } from '../../objects/manifests/parallel.ts';
import { because, ReleaseError, type ReleaseTarget } from './cluster.ts';
import { described, readLive, type Resource } from './resources.ts';

const MANAGED_BY = 'app.kubernetes.io/managed-by';
const RELEASE_NAME = 'meta.helm.sh/release-name';
const RELEASE_NAMESPACE = 'meta.helm.sh/release-namespace';

/** The resource with the label and annotations of its release. */
export function owned(
  resource: Resource,
  { name, namespace }: Pick<ReleaseTarget, 'name' | 'namespace'>,
): Resource {
  const { metadata } = resource.object;
  return {
    ...resource,
    object: {
      ...resource.object,
      metadata: {
        ...metadata,
        labels: { ...metadata.labels, [MANAGED_BY]: 'Helm' },
        annotations: { ...metadata.annotations, [RELEASE_NAME]: name, [RELEASE_NAMESPACE]: namespace },
      },
    },
  };
}

/**
 * The resources that exist already.
 * @param takes whether the release takes over objects of others
 * @throws ReleaseError if an object belongs to another owner
 */
export async function existing(
  resources: readonly Resource[],
  takes: boolean,
  target: ReleaseTarget,
): Promise<readonly Resource[]> {
  const found = await inParallel(resources, async (resource) => {
    const live = await readLive(resource, target).catch((error: unknown) => {
      throw because(`could not get information about the resource ${described(resource)}`, error, target);
    });
    if (live === undefined) return [];
    const problem = takes ? undefined : foreign(live, target);
    if (problem === undefined) return [resource];
    throw new ReleaseError(
      `${described(resource)} exists and cannot be imported into the current release: ${problem}`,
    );
  });
  return found.flat();
}

/** Why an object does not belong to the release; undefined if it does. */
function foreign({ metadata }: Obj, { name, namespace }: ReleaseTarget): string | undefined {
  const problems = [
    different('label', metadata.labels, MANAGED_BY, 'Helm'),
    different('annotation', metadata.annotations, RELEASE_NAME, name),
    different('annotation', metadata.annotations, RELEASE_NAMESPACE, namespace),
  ].filter((problem) => problem !== undefined);
  return problems.length === 0 ? undefined : ['invalid ownership metadata', ...problems].join('; ');
}

function different(what: string, values: unknown, key: string, wanted: string): string | undefined {
  const value = ownField(values, key);
  if (value === wanted) return undefined;
  return typeof value === 'string'
    ? `${what} validation error: key "${key}" must equal "${wanted}": current value is "${value}"`
    : `${what} validation error: missing key "${key}": must be set to "${wanted}"`;
}

const POLICY = 'helm.sh/resource-policy';

/** Whether the policy of an object keeps it when the release is uninstalled; an unknown policy does, too, as in Helm. */
export const isKeptByRecord = ({ object }: Resource): boolean =>
  ownField(object.metadata.annotations, POLICY) !== undefined;

/** Whether an object stays on the cluster although the new revision does not contain it. */
export const isKeptOnCluster = ({ metadata }: Obj): boolean =>
  ownField(metadata.annotations, POLICY) === 'keep';

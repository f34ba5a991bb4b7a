/**
 * One readiness check of the deployed objects: reads the objects, evaluates the checks, and returns the first
 * object that is not ready.
 */
import { NoSuchKind, NotFound } from '../../../src/runtime/errors.ts';
import type { Problem } from '../../../src/machine/decision.ts';
import { ConfigurationError, isDefinite, messageOf } from '../../sdk/errors.ts';
import { keyOfRef, type KubeObject, type ResourceRef } from '../manifests/model.ts';
import { inParallel } from '../manifests/parallel.ts';
import type { KubeAccess } from '../../sdk/access.ts';
import { PathBudget } from '../path-budget.ts';
import { customVerdict, type CustomCheck } from './custom.ts';
import { defaultVerdict, hasDefaultCheck } from './default.ts';
import { podProblem } from './pods.ts';

/** The object that is not ready, and why. */
export interface Unready {
  /** undefined if no object was found. */
  readonly ref?: ResourceRef | undefined;
  readonly why: string;
}

interface UnreadyObject extends Unready {
  /** Undefined if it cannot be read. */
  readonly object?: KubeObject;
}

interface CheckPorts {
  readonly access: KubeAccess;
  secondary(name: string): Promise<KubeAccess>;
  readonly signal: AbortSignal;
}

/**
 * The first managed object that is not ready.
 * @param known objects as the cluster just returned them; they are not read again
 */
export async function defaultCheck(
  refs: readonly ResourceRef[],
  known: ReadonlyMap<ResourceRef, KubeObject>,
  ports: CheckPorts,
): Promise<Unready | undefined> {
  const found = await inParallel(refs, async (ref): Promise<UnreadyObject | undefined> => {
    const fresh = known.get(ref);
    if (fresh && !hasDefaultCheck(ref)) return undefined;
    const object = fresh ?? (await read(ref, ports.access, ports.signal));
    if (typeof object === 'string') return { ref, why: object };
    const verdict = defaultVerdict(object);
    return verdict.isReady ? undefined : { ref, why: verdict.why, object };
  });
  const first = found.find((unready) => unready !== undefined);
  if (!first?.object) return first;
  const problem = await podProblem(first.object, ports.access, ports.signal);
  return { ref: first.ref, why: problem === undefined ? first.why : `${first.why}; ${problem}` };
}

/** The first object that fails one of the checks. */
export async function customChecks(
  checks: readonly CustomCheck[],
  ports: CheckPorts,
): Promise<Unready | undefined> {
  const budget = new PathBudget();
  for (const check of checks) {
    if (check.isDisabled) continue;
    const unready = await customCheck(check, ports, budget);
    if (unready) return { ...unready, why: `check ${check.name}: ${unready.why}` };
  }
  return undefined;
}

async function customCheck(
  check: CustomCheck,
  ports: CheckPorts,
  budget: PathBudget,
): Promise<Unready | undefined> {
  let access = ports.access;
  try {
    if (check.targetName) access = await ports.secondary(check.targetName);
    for (const ref of check.resources) {
      const object = await read(ref, access, ports.signal);
      if (typeof object === 'string') return { why: object };
      const verdict = customVerdict(object, check.requirements, budget);
      if (!verdict.isReady) return { ref, why: verdict.why };
    }
    return check.labels
      ? await labelled(check, check.labels, access, { signal: ports.signal, budget })
      : undefined;
  } catch (error) {
    if (ports.signal.aborted || error instanceof ConfigurationError || isDefinite(error)) throw error;
    return { why: messageOf(error) };
  }
}

async function labelled(
  check: CustomCheck,
  { apiVersion, kind: name, matchLabels }: NonNullable<CustomCheck['labels']>,
  access: KubeAccess,
  { signal, budget }: { readonly signal: AbortSignal; readonly budget: PathBudget },
): Promise<Unready | undefined> {
  const kind = await access.kindOf(apiVersion, name);
  const labels = Object.entries(matchLabels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  let count = 0;
  for await (const page of access.client.list(kind, { labels }, signal)) {
    for (const object of page.items) {
      count++;
      const verdict = customVerdict(object, check.requirements, budget);
      const { name: objectName, namespace } = object.metadata;
      const ref = { apiVersion, kind: name, name: objectName, ...(namespace && { namespace }) };
      if (!verdict.isReady) return { ref, why: verdict.why };
    }
  }
  return count === 0 ? { why: 'object list by label selector is empty' } : undefined;
}

/** The object, or why it cannot be read. */
async function read(ref: ResourceRef, access: KubeAccess, signal: AbortSignal): Promise<KubeObject | string> {
  try {
    const kind = await access.kindOf(ref.apiVersion, ref.kind);
    return (await access.client.get(kind, keyOfRef(ref), signal)) as KubeObject;
  } catch (error) {
    if (error instanceof NotFound || error instanceof NoSuchKind) return messageOf(error);
    throw error;
  }
}

const WAIT = 'WaitForObjectsReady';

/** The status of a job while it waits. */
export const waitingFor = ({ ref, why }: Unready): Problem => ({
  operation: WAIT,
  reason: 'NotReady',
  message: ref ? `${ref.kind} ${keyOfRef(ref)}: ${why}` : why,
});

/** The error of a job whose timeout ends while it waits. */
export const timeoutFor = ({ ref }: Unready): Problem => ({
  operation: WAIT,
  reason: 'ProgressingTimeout',
  message: ref
    ? `timeout at: "deployer: during readiness check - resource ${ref.namespace ?? ''}/${ref.name} of type ${ref.kind}"`
    : 'timeout at: "deployer: during readiness check"',
  codes: ['ERR_TIMEOUT', 'ERR_FOR_INFO_ONLY'],
});

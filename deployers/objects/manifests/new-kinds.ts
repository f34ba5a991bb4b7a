/** Waits until the API server of a target serves the kinds of new CustomResourceDefinitions. */
import { sleep, type Clock } from '../../../src/lib/clock.ts';
import { formatDuration } from '../../../src/lib/duration.ts';
import { Forbidden } from '../../../src/runtime/errors.ts';
import { apiVersionOf } from '../../../src/runtime/keys.ts';
import { isServed } from '../../../src/runtime/transport/discovery.ts';
import { isTemporary } from '../../../src/runtime/transport/failure.ts';
import type { Kind, Obj } from '../../../src/runtime/types.ts';
import type { KubeAccess } from '../../sdk/access.ts';
import { messageOf } from '../../sdk/errors.ts';
import { conditionOf, isTrue, messageIn } from '../readiness/fields.ts';
import { inParallel } from './parallel.ts';
import type { KubeObject } from './model.ts';

/** Time until the API server serves new kinds. */
const LIMIT_MS = 60_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2000;

/** A definition that was applied, and kinds of it that other objects need. */
export interface NewKinds {
  readonly name: string;
  /** The kind CustomResourceDefinition, in the version of the definition. */
  readonly kind: Kind<Obj>;
  readonly needed: readonly Kind[];
  /** As the API server returned it; undefined: it is read first. */
  readonly live?: KubeObject | undefined;
}

/** The API server does not serve the kinds of a definition. */
export class KindsNotServed extends Error {
  override readonly name = 'KindsNotServed';
  readonly reason: 'NamesNotAccepted' | 'TimeOver';

  constructor(reason: KindsNotServed['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

interface WaitPorts {
  readonly access: KubeAccess;
  readonly clock: Clock;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/** A definition whose kinds are not served: KindsNotServed, or an error of the client. */
export interface Unserved<D extends NewKinds = NewKinds> {
  readonly definition: D;
  readonly error: unknown;
}

/**
 * Waits for all definitions, together for a minute.
 * @throws the reason of the signal
 */
export async function waitUntilServed<D extends NewKinds>(
  definitions: readonly D[],
  ports: WaitPorts,
): Promise<readonly Unserved<D>[]> {
  const end = ports.clock.now() + LIMIT_MS;
  const unserved: Unserved<D>[] = [];
  await inParallel(definitions, async (definition) => {
    try {
      await waitForOne(definition, end, ports);
    } catch (error) {
      ports.signal.throwIfAborted();
      unserved.push({ definition, error });
    }
  });
  return unserved;
}

async function waitForOne(definition: NewKinds, end: number, ports: WaitPorts): Promise<void> {
  const { clock, signal } = ports;
  let { live } = definition;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    const missing = await whatIsMissing(definition, live, ports).catch((error: unknown) => {
      if (!isTemporary(error)) throw error;
      return messageOf(error);
    });
    if (missing === undefined) return;
    const left = end - clock.now();
    if (left <= 0)
      throw new KindsNotServed(
        'TimeOver',
        `the kind is not served after ${formatDuration(LIMIT_MS)}: ${missing}`,
      );
    await sleep(clock, Math.min(pause, left), signal);
    live = undefined;
  }
}

/** @returns undefined if all needed kinds are served. @throws KindsNotServed if they will not be */
async function whatIsMissing(
  { name, kind, needed }: NewKinds,
  known: KubeObject | undefined,
  { access: { client }, signal }: WaitPorts,
): Promise<string | undefined> {
  // Without the permission to read definitions, discovery alone decides.
  const now =
    known ??
    (await client.get(kind, name, signal).catch((error: unknown) => {
      if (error instanceof Forbidden) return undefined;
      throw error;
    }));
  const established = conditionOf(now, 'Established');
  if (now && !isTrue(established)) {
    const names = conditionOf(now, 'NamesAccepted');
    if (names?.status === 'False')
      throw new KindsNotServed(
        'NamesNotAccepted',
        `the definition is not established, its condition NamesAccepted is False: ${messageIn(names)}; choose other names, or delete the definition that has them`,
      );
    return established
      ? `its condition Established is ${established.status}: ${messageIn(established)}`
      : 'it has no condition Established';
  }
  for (const one of needed)
    if (!(await isServed(client, one, signal)))
      return `the API server does not serve ${one.kind} in ${apiVersionOf(one)}`;
  return undefined;
}

/**
 * Whether the wait container is a native sidecar: an init container that runs beside the image and is stopped when
 * the image has ended. Otherwise it is a container beside the image, and holds up every early end of the pod.
 */
import { ownField } from '../../src/lib/objects.ts';
import { Forbidden, NotFound } from '../../src/runtime/errors.ts';
import type { Client } from '../../src/runtime/types.ts';
import { defaultSettings, type ContainerSettings, type ProgramSpec } from './settings.ts';

/** Earlier versions need a feature gate; without it, they run the program as an init container that never ends. */
const FIRST = { major: 1, minor: 29 };

/** Asks the API server for its version, once. */
export function sidecarSupport(client: Client): (signal: AbortSignal) => Promise<boolean> {
  let known: boolean | undefined;
  return async (signal) => (known ??= hasSidecars(await versionOf(client, signal)));
}

async function versionOf(client: Client, signal: AbortSignal): Promise<unknown> {
  try {
    return await client.raw('GET', '/version', undefined, signal);
  } catch (error) {
    if (error instanceof Forbidden || error instanceof NotFound) return undefined;
    throw error;
  }
}

/** @param version of an API server; some providers append a character to the minor version */
function hasSidecars(version: unknown): boolean {
  const part = (name: string): number => Number.parseInt(String(ownField(version, name)), 10);
  const major = part('major');
  return major > FIRST.major || (major === FIRST.major && part('minor') >= FIRST.minor);
}

/** Other programs, such as upstream's, end by themselves; as sidecars they would be restarted. */
const isOwnProgram = ({ command, args }: ProgramSpec): boolean =>
  args === undefined && JSON.stringify(command) === JSON.stringify(defaultSettings.wait.command);

/** @param supports whether the cluster supports native sidecars */
export async function isSidecar(
  { isSidecar: configured, wait }: Pick<ContainerSettings, 'isSidecar' | 'wait'>,
  supports: () => Promise<boolean>,
): Promise<boolean> {
  return configured ?? (isOwnProgram(wait) && (await supports()));
}

/** What a viewer may list, according to the API server, which is asked with the token of the viewer. */
import { deployItemKind, executionKind, installationKind } from '../../../api/landscaper-kinds.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Client, Kind } from '../../../runtime/types.ts';
import { isAllowed } from '../requests.ts';
import type { Namespaces, Scope } from './scope.ts';

export interface ViewerRights {
  /**
   * Asks only for what is not known, or was asked too long ago.
   * @param namespaces those that contain installations
   * @throws the errors of runtime/errors.ts; Unauthorized if the token is no longer valid
   */
  scope(namespaces: readonly string[]): Promise<Scope>;
}

/** After this time, a permission is checked again. */
export const ALLOWED_MS = 30_000;
/** Longer, because there may be many namespaces that a viewer may not see. */
export const DENIED_MS = 120_000;
/** Reviews of one viewer at the same time. */
const MAX_REVIEWS = 8;
const REVIEW_TIMEOUT_MS = 10_000;

interface Known {
  readonly isAllowed: boolean;
  readonly until: number;
}

export function createRights(client: Client, clock: Clock): ViewerRights {
  const known = new Map<string, Known>();
  const ask = async (kind: Kind, namespace: string | undefined): Promise<boolean> => {
    const id = `${kind.plural}/${namespace ?? ''}`;
    const found = known.get(id);
    if (found && clock.now() < found.until) return found.isAllowed;
    const answer = await isAllowed(client, 'list', namespace, {
      kind,
      signal: AbortSignal.timeout(REVIEW_TIMEOUT_MS),
    });
    known.set(id, { isAllowed: answer, until: clock.now() + (answer ? ALLOWED_MS : DENIED_MS) });
    return answer;
  };
  const namespacesOf = async (kind: Kind, candidates: readonly string[]): Promise<Namespaces> => {
    if (await ask(kind, undefined)) return 'all';
    const allowed = await filtered(candidates, (namespace) => ask(kind, namespace));
    return allowed.sort();
  };
  const forget = (namespaces: readonly string[]): void => {
    const kept = new Set(['', ...namespaces]);
    for (const id of known.keys()) if (!kept.has(id.slice(id.indexOf('/') + 1))) known.delete(id);
  };
  return {
    async scope(namespaces) {
      forget(namespaces);
      const installations = await namespacesOf(installationKind, namespaces);
      // Objects below an installation that the viewer may not see are never shown.
      const candidates = installations === 'all' ? namespaces : installations;
      const executions = await namespacesOf(executionKind, candidates);
      const deployItems = await namespacesOf(deployItemKind, candidates);
      return { installations, executions, deployItems };
    },
  };
}

/** The items for which the answer is yes; a few are asked at the same time. */
async function filtered(
  items: readonly string[],
  isWanted: (item: string) => Promise<boolean>,
): Promise<string[]> {
  const found: string[] = [];
  const rest = [...items];
  const work = async (): Promise<void> => {
    for (let item = rest.pop(); item !== undefined; item = rest.pop())
      if (await isWanted(item)) found.push(item);
  };
  await Promise.all(Array.from({ length: MAX_REVIEWS }, work));
  return found;
}

/** Removes the conditions that Landscaper does not know: it would keep them forever, as if they were still true. */
import { espalierConditions } from '../../../api/conditions.ts';
import { deployItemKind, executionKind, installationKind } from '../../../api/landscaper-kinds.ts';
import type { Condition } from '../../../api/shared.ts';
import { keyOf } from '../../../runtime/keys.ts';
import { getIfThere } from '../../../runtime/transport/read.ts';
import type { Client, Kind, Obj } from '../../../runtime/types.ts';
import { listAll } from './listing.ts';
import { withRetries } from './retries.ts';
import type { RemovalPorts } from './removal.ts';

interface WithConditions extends Obj {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

const kinds = [installationKind, executionKind, deployItemKind] as unknown as readonly Kind<WithConditions>[];
const isOurs = ({ type }: Condition): boolean => espalierConditions.some((one) => one === type);

/** An object and its kind. */
interface Found {
  readonly kind: Kind<WithConditions>;
  readonly key: string;
}

/** The objects that have such conditions. @throws the errors of runtime/errors.ts */
export async function withOwnConditions(client: Client): Promise<readonly Found[]> {
  const lists = await Promise.all(
    kinds.map(async (kind) =>
      (await listAll(client, kind, {}))
        .filter(({ status }) => status?.conditions?.some(isOurs))
        .map((object) => ({ kind, key: keyOf(object) })),
    ),
  );
  return lists.flat();
}

/**
 * Removes them from one object, if it still exists. Nothing else changes.
 * @throws CommandError after the last attempt; the errors of runtime/errors.ts
 */
export async function removeOwnConditions({ kind, key }: Found, ports: RemovalPorts): Promise<void> {
  await withRetries(`remove conditions of ${kind.kind} ${key}`, ports, async () => {
    const object = await getIfThere(ports.client, kind, key);
    const conditions = object?.status?.conditions ?? [];
    if (!object || !conditions.some(isOurs)) return;
    const left = conditions.filter((condition) => !isOurs(condition));
    const body = {
      // A conflict reads the object again: another client may have written other conditions.
      metadata: { resourceVersion: object.metadata.resourceVersion },
      status: { conditions: left.length > 0 ? left : null },
    };
    await ports.client.send({ verb: 'merge', kind, sub: 'status', key, body });
  });
}

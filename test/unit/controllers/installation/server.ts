import { apiErrorFrom } from '../../../../src/runtime/errors.ts';
import type { Client, Kind, Obj } from '../../../../src/runtime/types.ts';

/** A server with these objects that records its requests. */
export function server(...objects: readonly Obj[]) {
  const asked: string[] = [];
  let open = 0;
  const most = { open: 0 };
  const get = async (kind: Kind, key: string): Promise<Obj> => {
    asked.push(`${kind.kind} ${key}`);
    most.open = Math.max(most.open, ++open);
    await Promise.resolve();
    open--;
    const found = objects.find(
      (o) => o.kind === kind.kind && `${o.metadata.namespace ?? ''}/${o.metadata.name}` === key,
    );
    if (found) return found;
    throw apiErrorFrom(
      404,
      { reason: 'NotFound', message: 'no' },
      { verb: 'get', kind: kind.kind, name: key },
    );
  };
  return { asked, most, client: { get } as unknown as Client };
}

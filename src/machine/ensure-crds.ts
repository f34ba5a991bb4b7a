/** Installs or updates our CustomResourceDefinitions and waits until the server serves them. */
import { loadCrds } from '../api/crds.ts';
import { sleep, type Clock } from '../lib/clock.ts';
import type { Logger } from '../observability/log.ts';
import { crdKind, type CustomResourceDefinition } from '../runtime/core-kinds.ts';
import { EspalierError } from '../runtime/errors.ts';
import type { Client } from '../runtime/types.ts';

/** The API server took our kinds, and does not serve them. */
export class CrdsNotServed extends EspalierError {}

const DEADLINE_MS = 30_000;
const INTERVAL_MS = 50;

/** @throws CrdsNotServed when a definition is not served in time; the errors of runtime/errors.ts */
export async function ensureCrds(client: Client, clock: Clock, log: Logger): Promise<void> {
  const wanted = loadCrds() as unknown as CustomResourceDefinition[];
  const written = await Promise.all(
    wanted.map((object) =>
      client.send({ verb: 'apply', kind: crdKind, object, manager: 'espalier-crds', force: true }),
    ),
  );
  const deadline = clock.now() + DEADLINE_MS;
  await Promise.all(written.map((crd) => established(client, clock, crd, deadline)));
  log.info({ count: wanted.length }, 'CustomResourceDefinitions are installed');
}

async function established(
  client: Client,
  clock: Clock,
  crd: CustomResourceDefinition,
  deadline: number,
): Promise<void> {
  const { name } = crd.metadata;
  for (let now = crd; !isServed(now); now = await client.get(crdKind, name)) {
    if (clock.now() > deadline) {
      const refused = now.status?.conditions?.find((c) => c.type === 'NamesAccepted' && c.status === 'False');
      throw new CrdsNotServed(
        `CustomResourceDefinition ${name} is not served after 30 s${refused?.message ? `: ${refused.message}` : ''}`,
      );
    }
    await sleep(clock, INTERVAL_MS);
  }
}

const isServed = (crd: CustomResourceDefinition): boolean =>
  crd.status?.conditions?.some((c) => c.type === 'Established' && c.status === 'True') ?? false;

/** Reads the exports of all deploy items of an execution, which are counted together while they are read. */
import { refusedInteger } from '../../src/lib/exact-json.ts';
import { isDns1123Subdomain } from '../../src/lib/names.ts';
import { sizeText } from '../../src/lib/sizes.ts';
import { IntegerTooLong } from '../../src/lib/yaml-error.ts';
import { TextsTooLarge, TextUnreadable, type TextReader } from '../../src/lib/yaml-texts.ts';
import { secretKind } from '../../src/landscape/world.ts';
import { PhaseError } from '../../src/machine/decision.ts';
import { NotFound } from '../../src/runtime/errors.ts';
import { joinKey } from '../../src/runtime/keys.ts';
import type { Client } from '../../src/runtime/types.ts';
import { templateName, type Item } from './classify.ts';

/** Of all exports of an execution, as JSON; an object in a cluster is much smaller. */
const MAX_EXPORT_BYTES = 16 << 20;

interface Ports {
  readonly client: Client;
  readonly texts: TextReader;
}

/**
 * @param names of all deploy items
 * @param active the items by name
 * @throws PhaseError
 */
export async function readExports(
  ports: Ports,
  names: readonly string[],
  active: ReadonlyMap<string, Item>,
): Promise<Record<string, unknown>> {
  const exports: Record<string, unknown> = {};
  let bytes = 0;
  for (const name of names) {
    const item = active.get(name);
    if (!item) throw exportError(`has failed or missing deploy items: ${name} is missing`);
    const found = await readExport(ports, item);
    bytes += found.bytes;
    if (bytes > MAX_EXPORT_BYTES)
      throw exportError(
        `the exports of the deploy items have more than ${sizeText(MAX_EXPORT_BYTES)} as JSON together, a fixed limit; divide the deploy items among sub-installations`,
      );
    exports[name] = found.value;
  }
  return exports;
}

async function readExport(
  { client, texts }: Ports,
  item: Item,
): Promise<{ readonly value: unknown; readonly bytes: number }> {
  const ref = item.status?.exportRef;
  if (!ref) return { value: null, bytes: 0 };
  const { namespace } = item.metadata;
  const key = joinKey(namespace, ref.name);
  const what = `export secret ${key} of deploy item ${templateName(item) || item.metadata.name}`;
  // A user who may write the status need not have the right to read secrets of other namespaces.
  if (ref.namespace && ref.namespace !== namespace) {
    throw exportError(
      `${what} cannot be read: status.exportRef names namespace "${ref.namespace}"; only secrets of the item's own namespace are read`,
    );
  }
  const [invalid] = isDns1123Subdomain(ref.name);
  if (invalid !== undefined) throw exportError(`${what} cannot be read: its name is invalid: ${invalid}`);
  const secret = await client.get(secretKind, key).catch((error: unknown) => {
    if (error instanceof NotFound) throw exportError(`${what} does not exist`);
    throw error;
  });
  const config = secret.data?.['config'];
  if (config === undefined) throw exportError(`${what} has no key "config"`);
  try {
    const text = Buffer.from(config, 'base64').toString('utf8');
    const [found] = await texts.readTexts({ texts: [['config', text]] });
    return found ?? { value: null, bytes: 0 };
  } catch (error) {
    throw unreadable(what, error);
  }
}

/** @returns other errors unchanged. The invalid value itself may be a secret. */
function unreadable(what: string, error: unknown): unknown {
  if (error instanceof TextsTooLarge) return exportError(`${what} cannot be read: ${error.message}`);
  if (!(error instanceof TextUnreadable)) return error;
  if (error.cause instanceof IntegerTooLong)
    return exportError(refusedInteger(`${what}: line ${String(error.cause.line ?? 1)} of key "config"`));
  return exportError(`${what} contains invalid YAML under key "config"`);
}

const exportError = (message: string): PhaseError =>
  new PhaseError('handleReconcilePhase', 'handlePhaseCompleting', message, ['ERR_FOR_INFO_ONLY']);

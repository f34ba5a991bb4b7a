/** Reads all imports of an installation, from the caches and from the API server. */
import { dataObjectKind } from '../../../src/api/kinds/dataobject.ts';
import { targetKind } from '../../../src/api/kinds/target.ts';
import { parentInstallation } from '../../../src/api/job.ts';
import { ImportBudget, tooManyImports } from '../../../src/dataflow/import-limits.ts';
import {
  findImports,
  keyedReference,
  neededObjects,
  refusedImports,
  type FoundImports,
  type ImportLookups,
} from '../../../src/dataflow/imports.ts';
import { readKeyedImport, type MeasuredImport } from '../../../src/dataflow/dataimport.ts';
import { textsHere, type TextReader } from '../../../src/lib/yaml-texts.ts';
import { exactJson } from '../../../src/lib/exact-json.ts';
import { configMapKind, secretKind, type World } from '../../../src/landscape/world.ts';
import { joinKey } from '../../../src/runtime/keys.ts';
import { getIfThere } from '../../../src/runtime/transport/read.ts';
import type { Client, Kind, Obj } from '../../../src/runtime/types.ts';
import { cachedImports } from '../cached-objects.ts';
import type { Inst } from '../related-objects.ts';

/** Maximum number of parallel requests for one installation; the others need connections, too. */
const MAX_PARALLEL = 8;

/**
 * Reads secrets and config maps from the API server, everything else from the caches. An object that a cache does
 * not contain is read from the API server as well: a user may apply an object together with the installation that
 * imports it, before the cache has it.
 */
export async function readImports(
  self: Inst,
  world: World,
  client: Client,
  texts: TextReader = textsHere,
): Promise<FoundImports> {
  const tooMany = tooManyImports(self);
  if (tooMany !== undefined) return refusedImports(self, tooMany);
  const namespace = self.metadata.namespace ?? '';
  const parent = parentInstallation(self.metadata);
  const needed = neededObjects(self, parent);
  const reader = new ImportReader(client, namespace);
  const secrets = await reader.readAll(secretKind, needed.secrets);
  const configMaps = await reader.readAll(configMapKind, needed.configMaps);
  if (reader.refusal !== undefined) return refusedImports(self, reader.refusal);
  const sources = {
    secret: (name: string) => secrets.get(name),
    configMap: (name: string) => configMaps.get(name),
  };
  const keyed = await readKeyed(self, sources, texts);
  if (typeof keyed === 'string') return refusedImports(self, keyed);
  const cached: ImportLookups = {
    ...cachedImports(world, namespace),
    ...sources,
    keyed: (name) => keyed.get(name),
  };
  const found = findImports(self, parent, cached);
  if (found.missing.length === 0) return found;

  const absent = <T>(names: readonly string[], get: (name: string) => T | undefined): readonly string[] =>
    names.filter((name) => get(name) === undefined);
  const dataObjects = await reader.readAll(
    dataObjectKind,
    absent(needed.dataObjects, (name) => cached.dataObject(name)),
  );
  const targets = await reader.readAll(
    targetKind,
    absent(needed.targets, (name) => cached.target(name)),
  );
  if (reader.refusal !== undefined) return refusedImports(self, reader.refusal);
  return findImports(self, parent, {
    ...cached,
    dataObject: (name) => dataObjects.get(name) ?? cached.dataObject(name),
    target: (name) => targets.get(name) ?? cached.target(name),
  });
}

/** The imports from secrets and config maps by name; a message if they are too large together. */
async function readKeyed(
  { metadata, spec }: Inst,
  sources: Pick<ImportLookups, 'secret' | 'configMap'>,
  texts: TextReader,
): Promise<ReadonlyMap<string, MeasuredImport | string> | string> {
  const found = new Map<string, MeasuredImport | string>();
  const budget = new ImportBudget();
  for (const each of spec.imports?.data ?? []) {
    const ref = keyedReference(each, metadata.namespace ?? '');
    if (!ref) continue;
    const source = ref.kind === 'secret' ? sources.secret(ref.name) : sources.configMap(ref.name);
    const read = await readKeyedImport(ref, source, texts);
    const tooLarge = typeof read === 'string' ? undefined : budget.take(read.bytes);
    if (tooLarge !== undefined) return tooLarge;
    found.set(each.name, read);
  }
  return found;
}

/**
 * Reads objects up to the import limit of one installation. A secret counts completely, even if only one key is
 * imported.
 */
class ImportReader {
  /** Why the reader has stopped. */
  refusal: string | undefined;
  readonly #client: Client;
  readonly #namespace: string;
  readonly #budget = new ImportBudget();

  constructor(client: Client, namespace: string) {
    this.#client = client;
    this.#namespace = namespace;
  }

  async readAll<T extends Obj>(kind: Kind<T>, names: readonly string[]): Promise<ReadonlyMap<string, T>> {
    const found = new Map<string, T>();
    const left = names.values();
    const read = async (): Promise<void> => {
      for (const name of left) {
        if (this.refusal !== undefined) return;
        const object = await getIfThere(this.#client, kind, joinKey(this.#namespace, name));
        if (!object) continue;
        this.refusal ??= this.#budget.take(exactJson(object).length);
        found.set(name, object);
      }
    };
    await Promise.all(Array.from({ length: Math.min(MAX_PARALLEL, names.length) }, read));
    return found;
  }
}

/**
 * The state file of a run: the provider status of every item, by which a deployer knows the objects that it
 * created. The file is rewritten after every change. If the process is killed, the last change may be missing. The
 * objects created at that moment are found by their labels when the same file is run again.
 */
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { isObject, ownField, type Fields } from '../../../lib/objects.ts';
import { UsageError } from '../../errors.ts';
import { writePrivateFile } from '../../files.ts';

const KIND = 'DeployItemState';
const VERSION = 'espalier.dev/v1alpha1';

export interface StateFile {
  readonly path: string | undefined;
  get(item: string): Fields | undefined;
  /** undefined: the item has no objects any more. */
  set(item: string, providerStatus: Fields | undefined): void;
  readonly items: readonly string[];
}

/** @param path undefined: nothing is stored. @throws UsageError */
export function openState(path: string | undefined): StateFile {
  const known = new Map(path !== undefined && existsSync(path) ? read(path) : []);
  return {
    path,
    get: (item) => known.get(item),
    set(item, providerStatus) {
      if (JSON.stringify(known.get(item)) === JSON.stringify(providerStatus)) return;
      if (providerStatus === undefined) known.delete(item);
      else known.set(item, providerStatus);
      if (path !== undefined) store(path, known);
    },
    get items() {
      return [...known.keys()];
    },
  };
}

function read(path: string): readonly (readonly [string, Fields])[] {
  let document: unknown;
  try {
    document = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    document = undefined;
  }
  const items = ownField(document, 'items');
  if (!isObject(items) || ownField(document, 'kind') !== KIND)
    throw new UsageError(`${path} is not a state file; choose another file with --state`);
  return Object.entries(items).filter((entry): entry is [string, Fields] => isObject(entry[1]));
}

/** Writes the file atomically, because an incomplete file would be worse than an old one. */
function store(path: string, known: ReadonlyMap<string, Fields>): void {
  if (known.size === 0) {
    rmSync(path, { force: true });
    return;
  }
  const document = { apiVersion: VERSION, kind: KIND, items: Object.fromEntries(known) };
  const next = `${path}.next`;
  writePrivateFile(next, `${JSON.stringify(document, undefined, 2)}\n`);
  renameSync(next, path);
}

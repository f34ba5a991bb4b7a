/**
 * Work as messages between processes. Data that several jobs share is sent once; the rest is JSON text, which is
 * fastest to send.
 */
import { createHash } from 'node:crypto';
import { ComponentProblem } from '../../components/errors.ts';
import type { Content } from '../../components/repository.ts';
import { viewOf, type ComponentData, type FetchedContents } from '../../components/view.ts';
import { exactJson } from '../../lib/exact-json.ts';
import { fileTreeAt, type FileNode, type FileTree, type Folder } from '../../lib/file-tree.ts';
import { weightOf } from '../../lib/json-scan.ts';
import type { PackedChart } from '../../templating/helm/work.ts';
import type { SharedData } from '../../templating/worker/worker-process.ts';
import type { SchemaSources } from '../json-schema.ts';

/** JSON text, or the value itself if JSON cannot represent it. */
export type Packed = { readonly json: string } | { readonly value: unknown };

export function pack(value: unknown): Packed {
  try {
    return { json: JSON.stringify(value) ?? 'null' };
  } catch (error) {
    // Integers beyond 2^53.
    if (error instanceof TypeError) return { value };
    throw error;
  }
}

/** Bytes that a value counts; limits the time that another thread needs to parse it. */
export const sizeOf = (packed: Packed): number =>
  weightOf('json' in packed ? packed.json : exactJson(packed.value));

export const unpack = (packed: Packed): unknown =>
  'json' in packed ? (JSON.parse(packed.json) as unknown) : packed.value;

/** A blueprint by the ids of its shared data. */
export interface PackedBlueprint {
  readonly files: string;
  readonly component: string | undefined;
  readonly localTypes: Packed;
  readonly fetched: PackedContents;
}

/** Fetched contents by the ids of their shared data, or the message that says why they could not be fetched. */
type PackedContents = readonly (readonly [key: string, found: string | { readonly problem: string }])[];

export function packBlueprint({ files, component, info }: SchemaSources): {
  readonly packed: PackedBlueprint;
  readonly shared: readonly SharedData[];
} {
  const { id, bytes } = factsOf(files);
  const tree = { id, bytes, content: () => files.root };
  // As JSON: each job parses its own copy, because templates can change it.
  const view = component && {
    id: idOf(component.identity),
    bytes: component.bytes,
    content: () => pack(component.data()),
  };
  const contents: SharedData[] = [];
  const fetched = [...(component?.fetched ?? [])].map(([key, found]) => {
    if (found instanceof ComponentProblem) return [key, { problem: found.message }] as const;
    const sharedData = { id: idOf(found), content: () => found, isPassing: true };
    contents.push(sharedData);
    return [key, sharedData.id] as const;
  });
  return {
    packed: { files: tree.id, component: view?.id, localTypes: pack(info.localTypes ?? null), fetched },
    shared: view ? [tree, view, ...contents] : [tree],
  };
}

/** @param found the contents of the shared data */
export function unpackBlueprint(packed: PackedBlueprint, found: (id: string) => unknown): SchemaSources {
  const { files, component, localTypes } = packed;
  const fetched: FetchedContents = new Map(
    packed.fetched.map(([key, entry]) => [
      key,
      typeof entry === 'string' ? (found(entry) as Content) : new ComponentProblem(entry.problem),
    ]),
  );
  const types = unpack(localTypes) as SchemaSources['info']['localTypes'] | null;
  return {
    files: fileTreeAt(found(files) as Folder),
    info: types ? { localTypes: types } : {},
    component:
      component === undefined
        ? undefined
        : viewOf(unpack(found(component) as Packed) as ComponentData, fetched),
  };
}

/** Charts are large when unpacked, so a worker keeps one only for consecutive jobs. */
export const packChart = (chart: PackedChart): SharedData => ({
  id: `chart ${chart.digest}`,
  content: (): PackedChart => ({ digest: chart.digest, bytes: Uint8Array.from(chart.bytes) }),
  isPassing: true,
});

interface FileFacts {
  readonly id: string;
  readonly bytes: number;
}

const fileFacts = new WeakMap<FileTree, FileFacts>();

/** A blueprint is read for each reconcile; equal ones have the same id. */
function factsOf(files: FileTree): FileFacts {
  const known = fileFacts.get(files);
  if (known !== undefined) return known;
  let bytes = 0;
  const hash = createHash('sha256');
  const add = (node: FileNode, name: string): void => {
    hash.update(`${node.kind} ${JSON.stringify(name)} `);
    if (node.kind === 'folder') {
      hash.update(`${String(node.entries.size)} `);
      for (const [key, entry] of node.entries) add(entry, key);
    } else if (node.kind === 'link') hash.update(`${JSON.stringify(node.target)} `);
    else {
      bytes += node.content.length;
      hash.update(`${String(node.content.length)} `).update(node.content);
    }
  };
  add(files.root, '');
  const facts = { id: `files ${hash.digest('base64')}`, bytes };
  fileFacts.set(files, facts);
  return facts;
}

const objectIds = new WeakMap<object, string>();
let objects = 0;

/** Identifies an object by reference. */
function idOf(object: object): string {
  const id = objectIds.get(object) ?? `object ${String(++objects)}`;
  objectIds.set(object, id);
  return id;
}

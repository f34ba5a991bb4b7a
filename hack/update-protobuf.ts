/**
 * Generates src/apiserver/data/protobuf.json.gz: field numbers, JSON names and types of the messages in which
 * clients write built-in kinds, from the generated.proto files and Go types of upstream's modules.
 *
 *   node --import tsx hack/update-protobuf.ts
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const VERSION = 'v0.34.4';
const TARGET = new URL('../src/apiserver/data/protobuf.json.gz', import.meta.url);

/** Folders with messages, by module. */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  'k8s.io/api': [
    'admissionregistration/v1',
    'apps/v1',
    'authentication/v1',
    'authorization/v1',
    'autoscaling/v1',
    'autoscaling/v2',
    'batch/v1',
    'certificates/v1',
    'coordination/v1',
    'core/v1',
    'discovery/v1',
    'events/v1',
    'networking/v1',
    'node/v1',
    'policy/v1',
    'rbac/v1',
    'scheduling/v1',
    'storage/v1',
  ],
  'k8s.io/apimachinery': ['pkg/apis/meta/v1', 'pkg/api/resource', 'pkg/util/intstr', 'pkg/runtime'],
  'k8s.io/apiextensions-apiserver': ['pkg/apis/apiextensions/v1'],
};

/**
 * Number, JSON name, type, and flags: r repeated, p pointer in Go, i inlined into its parent, w written by Go's encoder
 * although it is empty.
 */
type Field = [number: number, name: string, type: string, flags: string];

interface GoField {
  readonly name: string;
  readonly isPointer: boolean;
  readonly isInline: boolean;
  /** Structs are written without `omitempty` as well, but not with `omitzero`. */
  readonly omit: 'never' | 'empty' | 'zero';
}

const folderOf = (module: string): string => {
  const answer = execFileSync('go', ['mod', 'download', '-json', `${module}@${VERSION}`], {
    cwd: '/',
    encoding: 'utf8',
  });
  return (JSON.parse(answer) as { Dir: string }).Dir;
};

/** Go fields with a protobuf number, by `Struct.number`. */
function goFields(folder: string): Map<string, GoField> {
  const found = new Map<string, GoField>();
  for (const file of readdirSync(folder).filter(
    (f) => f.endsWith('.go') && !f.endsWith('_test.go') && !f.includes('generated'),
  )) {
    let struct = '';
    for (const line of readFileSync(join(folder, file), 'utf8').split('\n')) {
      struct = /^type (\w+) struct \{/.exec(line)?.[1] ?? struct;
      const match = /^\s+(.*?)\s*`json:"([^"]*)".*protobuf:"([^"]*)"/.exec(line);
      if (!match) continue;
      const [, declaration = '', json = '', protobuf = ''] = match;
      const words = declaration.trim().split(/\s+/);
      const [name = '', ...options] = json.split(',');
      found.set(`${struct}.${protobuf.split(',')[1] ?? ''}`, {
        name,
        isPointer: (words[words.length - 1] ?? '').startsWith('*'),
        isInline: name === '' && (options.includes('inline') || words.length === 1),
        omit: options.includes('omitzero') ? 'zero' : options.includes('omitempty') ? 'empty' : 'never',
      });
    }
  }
  return found;
}

const SCALARS = new Set(['string', 'bool', 'int32', 'int64', 'uint32', 'uint64', 'bytes', 'double', 'float']);

/** The full name of a type. */
function fullName(type: string, ofPackage: string): string {
  if (SCALARS.has(type)) return type;
  if (type.startsWith('.')) return type.slice(1);
  return type.includes('.') ? type : `${ofPackage}.${type}`;
}

interface ProtoField {
  readonly label: string;
  readonly type: string;
  readonly name: string;
  readonly number: number;
}

/** Parses the line of a field in a message. */
function protoField(line: string): ProtoField | undefined {
  const [, keyed, name, number] =
    /^\s+((?:optional|repeated) \S+|map<\w+, \S+>) (\w+) = (\d+);/.exec(line) ?? [];
  const [, label = '', type = ''] = /^(optional|repeated|map)(?:<\w+,)? ([^>]+)>?$/.exec(keyed ?? '') ?? [];
  return name === undefined ? undefined : { label, type, name, number: Number(number) };
}

function flagsOf({ label, type }: ProtoField, known: GoField | undefined): string {
  const isStruct = label === 'optional' && !SCALARS.has(type) && !known?.isPointer;
  const isWritten = known?.omit === 'never' || (known?.omit === 'empty' && isStruct);
  return [
    label === 'repeated' && 'r',
    known?.isPointer && 'p',
    known?.isInline && 'i',
    isWritten && !known.isInline && 'w',
  ]
    .filter(Boolean)
    .join('');
}

function messagesOf(folder: string): Record<string, Field[]> {
  const proto = readFileSync(join(folder, 'generated.proto'), 'utf8');
  const name = /^package (\S+);/m.exec(proto)?.[1] ?? '';
  const full = (type: string): string => fullName(type, name);
  const go = goFields(folder);
  const messages: Record<string, Field[]> = {};
  let current = '';
  for (const line of proto.split('\n')) {
    current = /^message (\w+) \{/.exec(line)?.[1] ?? current;
    if (/^message (\w+) \{/.test(line)) messages[`${name}.${current}`] = [];
    const fields = messages[`${name}.${current}`];
    const field = protoField(line);
    if (!fields || !field) continue;
    const { label, number } = field;
    const known = go.get(`${current}.${number}`);
    const type = `${label === 'map' ? 'map ' : ''}${full(field.type)}`;
    fields.push([number, known?.name || field.name, type, flagsOf(field, known)]);
  }
  return messages;
}

const messages: Record<string, Field[]> = {};
for (const [module, folders] of Object.entries(FOLDERS)) {
  const root = folderOf(module);
  for (const folder of folders)
    if (existsSync(join(root, folder, 'generated.proto')))
      Object.assign(messages, messagesOf(join(root, folder)));
}
const data = {
  generatedBy: 'hack/update-protobuf.ts',
  source: `k8s.io/api@${VERSION}`,
  license: 'Apache-2.0',
  messages,
};
writeFileSync(TARGET, gzipSync(JSON.stringify(data), { level: 9 }));

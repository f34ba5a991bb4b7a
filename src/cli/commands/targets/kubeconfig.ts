/**
 * Prepares a user's kubeconfig for a Target: one context, embedded certificates and tokens. A Target must not
 * reference files or commands of the user's machine, since deployers run elsewhere.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { forbiddenIn } from '../../../../deployers/sdk/kubeconfig.ts';
import { isObject, ownField, type Fields } from '../../../lib/objects.ts';
import { UsageError } from '../../errors.ts';
import { readTextFile, readYamlFile } from '../../files.ts';

interface KubeconfigChoice {
  readonly file: string;
  /** Default: the current context, or the only one. */
  readonly context?: string | undefined;
  /** Embeds the content of files, and keeps only what the context needs. */
  readonly isFlattened: boolean;
}

/** The kubeconfig for a Target. @throws UsageError with the unsupported field and an alternative */
export function targetKubeconfig({ file, context, isFlattened }: KubeconfigChoice): string {
  const document = readYamlFile(file);
  if (!isObject(document) || !Array.isArray(document['clusters']) || document['clusters'].length === 0) {
    throw new UsageError(`${file} contains no cluster; is it a kubeconfig?`);
  }
  const chosen = { ...document, 'current-context': contextOf(document, file, context) };
  const result = isFlattened ? flattened(chosen, file) : chosen;
  const problem = forbiddenIn(result);
  if (problem !== undefined) throw new UsageError(`${file}: ${problem}${hint(problem, isFlattened)}`);
  return isFlattened || context !== undefined
    ? `${JSON.stringify(result, undefined, 2)}\n`
    : readTextFile(file);
}

const hint = (problem: string, isFlattened: boolean): string =>
  problem.includes(' files are not supported') && !isFlattened ? '; --flatten embeds the files' : '';

function contextOf(document: Fields, file: string, wanted: string | undefined): string {
  const names = namesIn(document['contexts']);
  const current = ownField(document, 'current-context');
  const [only] = names;
  const name =
    wanted ??
    (typeof current === 'string' && current !== '' ? current : names.length === 1 ? only : undefined);
  const choices = names.join(', ') || 'none';
  if (name === undefined) {
    throw new UsageError(`${file} has no current context; choose one with --target-context: ${choices}`);
  }
  if (!names.includes(name)) throw new UsageError(`${file} has no context ${name}; it has ${choices}`);
  return name;
}

const namesIn = (list: unknown): readonly string[] =>
  Array.isArray(list) ? list.map((entry: unknown) => String(ownField(entry, 'name'))) : [];

/** Fields with file names, and the corresponding fields with base64 content. */
const AS_DATA: readonly (readonly [string, string])[] = [
  ['certificate-authority', 'certificate-authority-data'],
  ['client-certificate', 'client-certificate-data'],
  ['client-key', 'client-key-data'],
];

function flattened(document: Fields, file: string): Fields {
  const folder = dirname(resolve(file));
  const name = String(document['current-context']);
  const context = entry(document['contexts'], name, 'context');
  const clusterName = String(ownField(context, 'cluster'));
  const userName = String(ownField(context, 'user'));
  const cluster = entry(document['clusters'], clusterName, 'cluster');
  if (!cluster)
    throw new UsageError(`${file}: context ${name} refers to cluster ${clusterName}, which is not in it`);
  const user = entry(document['users'], userName, 'user') ?? {};
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name: clusterName, cluster: withFiles(cluster, folder) }],
    users: [{ name: userName, user: withToken(withFiles(user, folder), folder) }],
    contexts: [{ name, context }],
  };
}

function entry(list: unknown, name: string, field: string): Fields | undefined {
  const entries = Array.isArray(list) ? (list as readonly unknown[]) : [];
  const body = ownField(
    entries.find((one) => ownField(one, 'name') === name),
    field,
  );
  return isObject(body) ? body : undefined;
}

function withFiles(fields: Fields, folder: string): Fields {
  const result = { ...fields };
  for (const [field, data] of AS_DATA) {
    const path = result[field];
    if (typeof path !== 'string' || path === '') continue;
    result[data] ??= contents(resolve(folder, path), field).toString('base64');
    delete result[field];
  }
  return result;
}

function withToken(user: Fields, folder: string): Fields {
  const { tokenFile, ...rest } = user;
  if (typeof tokenFile !== 'string' || tokenFile === '') return user;
  return { ...rest, token: contents(resolve(folder, tokenFile), 'tokenFile').toString('utf8').trim() };
}

function contents(path: string, field: string): Buffer {
  if (!existsSync(path))
    throw new UsageError(`there is no file ${path}, which is the ${field} of the kubeconfig`);
  return readFileSync(path);
}

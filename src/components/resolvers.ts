/** The OCM configuration of a Context: additional repositories by component name prefix. */
import { isObject, ownField } from '../lib/objects.ts';
import { parseBoundedYaml } from '../lib/yaml-texts.ts';
import type { JsonMap } from './descriptor.ts';
import { RepositoryUnusable } from './errors.ts';
import { trimmedEnd } from '../lib/trim.ts';

export interface Resolver {
  /** Complete segments of component names; empty matches all. */
  readonly prefix: string;
  readonly priority: number;
  readonly repository: JsonMap;
}

const DEFAULT_PRIORITY = 10;
/** Maximum length of the configuration, which is parsed for every job. */
const MAX_CHARACTERS = 128 * 2 ** 10;

/**
 * Sorted by priority, then by the length of the prefix.
 * @throws RepositoryUnusable
 */
export function readResolvers(text: string, where: string): readonly Resolver[] {
  if (text.length > MAX_CHARACTERS)
    throw new RepositoryUnusable(
      `${where} has more than ${String(MAX_CHARACTERS)} characters; this limit is fixed`,
    );
  let document: unknown;
  try {
    document = parseBoundedYaml(text);
  } catch (cause) {
    throw new RepositoryUnusable(`${where} is not valid YAML: ${(cause as Error).message}`, { cause });
  }
  const parts = ownField(document, 'configurations');
  const all = Array.isArray(parts) ? parts : [document];
  return all
    .flatMap((part) => {
      const found = ownField(part, 'resolvers');
      return Array.isArray(found) ? (found as unknown[]) : [];
    })
    .flatMap((entry) => {
      const repository = ownField(entry, 'repository');
      const prefix = ownField(entry, 'prefix') ?? '';
      const priority = Number(ownField(entry, 'priority') ?? DEFAULT_PRIORITY);
      if (!isObject(repository) || typeof prefix !== 'string') return [];
      return [{ prefix: trimmedEnd(prefix, '/'), priority, repository }];
    })
    .sort((a, b) => b.priority - a.priority || b.prefix.length - a.prefix.length);
}

export const fits = ({ prefix }: Resolver, component: string): boolean =>
  prefix === '' || component === prefix || component.startsWith(`${prefix}/`);

/** `.helmignore`: the files of a folder that do not belong to the chart. */
import { ChartInvalid } from './errors.ts';
import { shellPattern } from './patterns.ts';

interface Rule {
  readonly isNegated: boolean;
  readonly isForFolders: boolean;
  readonly matches: (path: string) => boolean;
}

/**
 * Returns a predicate for files that are ignored, themselves or because of a parent folder.
 * @throws ChartInvalid for a pattern that Helm refuses
 */
export function ignoreRules(text: string): (path: string) => boolean {
  const rules = [...text.replace(/^\ufeff/, '').split('\n'), 'templates/.?*'].flatMap(ruleOf);
  const isIgnored = (path: string, isFolder: boolean): boolean => {
    for (const { isNegated, isForFolders, matches } of rules) {
      if (isNegated) {
        // A rule with `!` ignores all files that it does not match: Helm's semantics, not Git's.
        if ((isForFolders && !isFolder) || !matches(path)) return true;
      } else if (!(isForFolders && !isFolder) && matches(path)) return true;
    }
    return false;
  };
  return (path) => {
    const parts = path.split('/');
    return parts.some((_, i) => isIgnored(parts.slice(0, i + 1).join('/'), i < parts.length - 1));
  };
}

function ruleOf(line: string): readonly Rule[] {
  const raw = line.trim();
  if (raw === '' || raw.startsWith('#')) return [];
  if (raw.includes('**')) throw new ChartInvalid('.helmignore: double-star (**) syntax is not supported');
  const isNegated = raw.startsWith('!');
  const isForFolders = raw.endsWith('/');
  const pattern = raw.slice(isNegated ? 1 : 0, isForFolders ? -1 : undefined);
  const isAnchored = pattern.startsWith('/');
  const matchPattern = shellPattern(isAnchored ? pattern.slice(1) : pattern);
  if (!matchPattern) throw new ChartInvalid(`.helmignore: syntax error in pattern "${raw}"`);
  const isWholePath = pattern.includes('/');
  const matches = (path: string): boolean =>
    matchPattern(isWholePath ? path : path.slice(path.lastIndexOf('/') + 1));
  return [{ isNegated, isForFolders, matches }];
}

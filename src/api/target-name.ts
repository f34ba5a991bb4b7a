/** The name of a target for users. Pure. */
import { labels } from './labels.ts';

interface NamedTarget {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/**
 * A copy of an imported target has a hash as its object name; its label has the name of the import.
 * @returns empty without a target
 */
export const shownTargetName = (target: NamedTarget | undefined): string =>
  target?.labels?.[labels.dataKey] || (target?.name ?? '');

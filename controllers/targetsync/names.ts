/**
 * Filters names by an expression of a TargetSync: an RE2 that matches anywhere in the name; `*` alone matches all
 * names.
 */
import { RE2JS } from 're2js';

/** @returns undefined if the expression is invalid */
export function nameFilter(expression: string): ((name: string) => boolean) | undefined {
  if (expression === '*') return () => true;
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(expression);
  } catch {
    return undefined;
  }
  return (name) => compiled.matcher(name).find();
}

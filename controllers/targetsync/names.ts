/** Which names an expression of a TargetSync means: RE2, found anywhere in the name; `*` alone means all. */
import { RE2JS } from 're2js';

/** @returns undefined when the text is no expression */
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

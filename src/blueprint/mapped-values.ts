/** Evaluates the data mappings of an installation, each on its own: a mapping does not see the others. */
import type { JsonMap } from './model.ts';
import type { MappingJob, TemplateRunner } from './work.ts';

/** @param common `what` begins the name of the mapping in messages. @throws MappingFailed */
export async function mappedValues(
  mappings: JsonMap | undefined,
  { what, ...common }: Pick<MappingJob, 'bindings' | 'what' | 'reason'>,
  runner: TemplateRunner,
): Promise<JsonMap> {
  const entries: [string, unknown][] = [];
  for (const [key, document] of Object.entries(mappings ?? {})) {
    entries.push([key, await runner.map({ ...common, document, key, what: `${what}.${key}` })]);
  }
  return Object.fromEntries(entries);
}

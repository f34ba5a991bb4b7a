/** The parsed blueprint: what the schemas describe, with types inferred and target types completed. */
import type { Blueprint as BlueprintDocument } from '../api/blueprint.ts';
import type { View } from '../lib/objects.ts';

export type JsonMap = Readonly<Record<string, unknown>>;

type Unchanged = Omit<
  BlueprintDocument,
  'apiVersion' | 'kind' | 'jsonSchema' | 'localTypes' | 'subinstallations'
>;

export interface Blueprint extends View<Unchanged> {
  readonly localTypes?: JsonMap | undefined;
  /** Each a `file` or a template; not decoded yet. */
  readonly subinstallations?: readonly JsonMap[] | undefined;
}

/** The parsed blueprint: what the schemas describe, with types inferred and target types completed. */
import type { Blueprint as BlueprintDocument } from '../api/blueprint.ts';
import type { View } from '../lib/objects.ts';
import type { FieldReader } from './decode.ts';

export type JsonMap = Readonly<Record<string, unknown>>;

type Unchanged = Omit<BlueprintDocument, 'apiVersion' | 'kind' | 'localTypes' | 'subinstallations'>;

export interface Blueprint extends View<Unchanged> {
  readonly localTypes?: JsonMap;
  /** Each a `file` or a template; decoded when sub-installations are rendered, so that errors come up there. */
  readonly subinstallations?: readonly FieldReader[];
}

/**
 * A conversion as API servers use it. In server-side apply, they also convert objects from which they have removed the fields
 * of a manager, to find out which fields of another version those are. Such an object may have no `spec`, but authors write
 * functions for valid objects. So if a function throws, it is called again with empty values for the required fields, as
 * programs in Go see such objects.
 */
import type { Obj, View } from '../types.ts';
import type { Conversion } from './conversion.ts';
import { withRequiredFields, type RequiredFields } from './incomplete.ts';

/** A CustomResourceDefinition, of which these fields are read. */
export interface DefinitionSchemas {
  readonly spec: {
    readonly versions: readonly { readonly name: string; readonly schema?: { openAPIV3Schema?: unknown } }[];
  };
}

export class ServedConversion {
  readonly conversion: Conversion;
  #schemas: ReadonlyMap<string, RequiredFields> = new Map();

  constructor(conversion: Conversion) {
    this.conversion = conversion;
  }

  /** Takes the schemas of the definition on the server. */
  learn({ spec }: DefinitionSchemas): void {
    const { group } = this.conversion.hub;
    this.#schemas = new Map(
      spec.versions.map(({ name, schema }) => [
        `${group}/${name}`,
        (schema?.openAPIV3Schema ?? {}) as RequiredFields,
      ]),
    );
  }

  /** The object in another version. @throws errors of the functions, for objects that have all required fields */
  convert(object: View<Obj>, apiVersion: string): Obj {
    try {
      return this.conversion.convert(object, apiVersion);
    } catch (error) {
      const schema = this.#schemas.get(object.apiVersion);
      const completed = schema ? withRequiredFields(schema, object) : object;
      if (completed === object) throw error;
      return this.conversion.convert(completed as Obj, apiVersion);
    }
  }
}

/** Parts of the schema of the configuration file: sections, used and unused keys. */
import { z } from 'zod';

/** Any section may have no value, as in rendered templates of charts. */
export const section = <Shape extends z.ZodRawShape>(shape: Shape) => z.looseObject(shape).nullish();
/** A key that upstream uses and Espalier does not; users who set it see `why`. */
export const unused = (why: string) => z.unknown().optional().meta({ unused: why });

/**
 * A key that Espalier uses, with its documentation.
 * @param fallback default value, as Markdown; '': none
 */
export const setting = <S extends z.ZodType>(schema: S, meaning: string, fallback = '') =>
  schema.nullish().meta({ meaning, fallback });
/** Another name for a key, which upstream accepts as well. */
export const alias = <S extends z.ZodType>(schema: S) => schema.meta({ isAlias: true });

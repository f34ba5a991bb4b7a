/** What the suite needs to know about a deployer: provider configurations for different results. */
import { z } from 'zod';
import { parseYaml } from '../../src/lib/yaml.ts';

/** The definition of deploy items requires apiVersion and kind of every configuration. */
const config = z.looseObject({ apiVersion: z.string().min(1), kind: z.string().min(1) });

const subjectSchema = z.strictObject({
  type: z.string().min(1),
  target: z.union([z.literal('cluster'), z.record(z.string(), z.unknown())]).optional(),
  succeeds: config,
  exports: z.strictObject({ config, value: z.unknown() }).optional(),
  waits: config.optional(),
  finish: config.optional(),
  invalid: config.optional(),
  plan: config.optional(),
  without: z.record(z.string(), z.string().min(1)).optional(),
});

/**
 * `$NAMESPACE` and `$ITEM` in values and keys of configurations and of the target are replaced by the namespace and the
 * name of the tested deploy item, so that items do not conflict.
 */
export interface Subject {
  /** `spec.type` of its deploy items. */
  readonly type: string;
  /** Spec of the Target of deploy items, or `cluster` for the tested cluster itself; absent: none. */
  readonly target?: 'cluster' | Readonly<Record<string, unknown>> | undefined;
  /** A configuration whose jobs succeed immediately. */
  readonly succeeds: Readonly<Record<string, unknown>>;
  /** A configuration with exports, and the exported value. */
  readonly exports?:
    { readonly config: Readonly<Record<string, unknown>>; readonly value: unknown } | undefined;
  /** A configuration whose jobs do not end. */
  readonly waits?: Readonly<Record<string, unknown>> | undefined;
  /** A configuration that ends the job of a waiting deploy item. */
  readonly finish?: Readonly<Record<string, unknown>> | undefined;
  /** A configuration that the deployer cannot read. */
  readonly invalid?: Readonly<Record<string, unknown>> | undefined;
  /** A configuration whose first job changes something, for deployers that can be asked for plans. */
  readonly plan?: Readonly<Record<string, unknown>> | undefined;
  /** Checks that do not apply: name → reason. */
  readonly without?: Readonly<Record<string, string>> | undefined;
}

/** The description is invalid. */
export class SubjectError extends Error {
  override readonly name = 'SubjectError';
}

/**
 * Reads a description from YAML.
 * @param origin for messages
 * @throws SubjectError in one line
 */
export function readSubject(text: string, origin: string): Subject {
  let document: unknown;
  try {
    document = parseYaml(text);
  } catch (cause) {
    throw new SubjectError(`${origin} is not valid YAML: ${(cause as Error).message}`, { cause });
  }
  const result = subjectSchema.safeParse(document);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const place = issue?.path.join('.') ?? '';
  throw new SubjectError(
    `${origin}: ${place === '' ? '' : `${place}: `}${issue?.message ?? 'is not usable'}`,
  );
}

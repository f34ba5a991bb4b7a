/** What the suite has to know about a deployer: provider configurations that make it do this and that. */
import { z } from 'zod';
import { parseYaml } from '../../src/lib/yaml.ts';

const config = z.record(z.string(), z.unknown());

const subjectSchema = z.strictObject({
  type: z.string().min(1),
  target: z.union([z.literal('cluster'), z.record(z.string(), z.unknown())]).optional(),
  succeeds: config,
  exports: z.strictObject({ config, value: z.unknown() }).optional(),
  waits: config.optional(),
  finish: config.optional(),
  invalid: config.optional(),
  without: z.record(z.string(), z.string().min(1)).optional(),
});

/**
 * Texts `$NAMESPACE` and `$ITEM` inside configurations and target stand for the namespace and the name of the item under
 * test, so that items do not get in each other's way.
 */
export interface Subject {
  /** `spec.type` of the items it serves. */
  readonly type: string;
  /** Spec of the Target that items refer to, or `cluster` for the cluster under test itself; none without. */
  readonly target?: 'cluster' | Readonly<Record<string, unknown>> | undefined;
  /** A configuration whose jobs end at once and well. */
  readonly succeeds: Readonly<Record<string, unknown>>;
  /** One that exports, and the value it exports. */
  readonly exports?:
    { readonly config: Readonly<Record<string, unknown>>; readonly value: unknown } | undefined;
  /** One whose jobs do not end by themselves. */
  readonly waits?: Readonly<Record<string, unknown>> | undefined;
  /** What an item that waits is configured with to come to its end. */
  readonly finish?: Readonly<Record<string, unknown>> | undefined;
  /** One that the deployer cannot read. */
  readonly invalid?: Readonly<Record<string, unknown>> | undefined;
  /** Checks that do not apply: name → reason. */
  readonly without?: Readonly<Record<string, string>> | undefined;
}

/** The description cannot be used. */
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

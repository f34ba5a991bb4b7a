/** The configuration file of a deployer: the part that all deployers of upstream have in common. */
import { z } from 'zod';
import { misfits, pathText } from '../../src/api/decode.ts';
import { closest } from '../../src/lib/closest.ts';
import { isObject, type Fields } from '../../src/lib/objects.ts';
import { parseYaml } from '../../src/lib/yaml.ts';
import { readinessRules, type DeployerSettings } from './deployer.ts';
import { checkSelectors, InvalidSelector } from './responsible.ts';

/** The file is invalid. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

const requirement = z.object({
  key: z.string(),
  operator: z.string(),
  values: z.array(z.string()).optional(),
});

const selector = z.object({
  targets: z.array(z.object({ name: z.string(), namespace: z.string().optional() })).optional(),
  annotations: z.array(requirement).optional(),
  labels: z.array(requirement).optional(),
});
/** The keys below which unknown keys are looked for, too. */
const nested = z.object({
  targetSelector: z.array(selector).nullish(),
  continuousReconcile: z.object({ enabled: z.boolean().nullish() }).nullish(),
});

/** An empty string and the number 0 count as missing, as in upstream. */
const settingsSchema = z.looseObject({
  kind: z.literal('Configuration').nullish(),
  identity: z.string().nullish(),
  ...nested.shape,
  claimUntargeted: z.boolean().nullish(),
  strict: z.boolean().nullish(),
  readiness: z.enum(readinessRules).nullish(),
  controller: z.looseObject({ workers: z.int().nonnegative().nullish() }).nullish(),
});

interface ReadSettings {
  readonly settings: DeployerSettings;
  readonly identity: string | undefined;
}

/** Keys beyond those that all deployers have: with `true`, the caller uses them; others have no effect, for a reason. */
type MoreKeys = Readonly<Record<string, true | string>>;

interface ReadOptions {
  readonly more?: MoreKeys;
  /** Receives a message for each key without effect. */
  readonly onNote?: (problem: string) => void;
  /** Unknown keys are errors. Otherwise they are notes, because a file of upstream may have keys of a newer version. */
  readonly refusesUnknown?: boolean;
}

/**
 * @param text YAML of kind Configuration
 * @param file for messages
 * @throws SettingsError in one line
 */
export function readSettings(text: string, file: string, options: ReadOptions = {}): ReadSettings {
  const raw = documentIn(text, file);
  const document = checked(raw, file);
  const { unknown, unused } = checkKeys(raw, { ...COMMON_KEYS, ...options.more });
  const [mistake] = unknown;
  if (mistake && options.refusesUnknown)
    throw new SettingsError(`${file}: unknown key ${mistake.key}${mistake.hint}`);
  for (const { key, hint } of unknown) options.onNote?.(`${key} is unknown and has no effect${hint}`);
  for (const note of unused) options.onNote?.(note);
  const { identity, targetSelector, claimUntargeted, strict, readiness } = document;
  const { continuousReconcile, controller } = document;
  const settings = {
    ...(targetSelector && { targetSelector }),
    ...(typeof claimUntargeted === 'boolean' && { claimUntargeted }),
    ...(typeof strict === 'boolean' && { strict }),
    ...(readiness && { readiness }),
    ...(typeof continuousReconcile?.enabled === 'boolean' && {
      continuousReconcile: { enabled: continuousReconcile.enabled },
    }),
    ...(controller?.workers && { workers: controller.workers }),
  } as DeployerSettings;
  try {
    checkSelectors(settings.targetSelector ?? []);
  } catch (cause) {
    if (!(cause instanceof InvalidSelector)) throw cause;
    throw new SettingsError(`${file}: ${cause.message}`, { cause });
  }
  return { settings, identity: identity || undefined };
}

const COMMON_KEYS: MoreKeys = {
  apiVersion: true,
  kind: true,
  identity: true,
  targetSelector: true,
  claimUntargeted: true,
  strict: true,
  readiness: true,
  continuousReconcile: true,
  'controller.workers': true,
  'controller.cacheSyncTimeout': 'the program waits for caches without a limit; /readyz shows the state',
  namespace: 'this deployer creates no objects in a namespace of its own',
  export: 'no deployer reads it, not even those of upstream; a deploy item has a timeout in spec.timeout',
  oci: 'this deployer fetches nothing from registries',
  hpa: 'no autoscaler is created; start several processes with the same --lease, they share the deploy items',
};

interface KeyNotes {
  /** `hint` is empty, or names the key that was probably meant. */
  readonly unknown: readonly { readonly key: string; readonly hint: string }[];
  /** A message for each key that upstream uses and Espalier does not. */
  readonly unused: readonly string[];
}

function checkKeys(document: Fields, keys: MoreKeys): KeyNotes {
  const known = Object.keys(keys);
  const unknown: { key: string; hint: string }[] = [];
  const unused: string[] = [];
  const note = (key: string, among: readonly string[]): void => {
    const meant = closest(key, among);
    unknown.push({ key, hint: meant === undefined ? '' : `; did you mean ${meant}?` });
  };
  for (const key of Object.entries(document).flatMap(([name, value]) => keysIn(name, value, known))) {
    const use = Object.hasOwn(keys, key) ? keys[key] : undefined;
    if (use === undefined) note(key, known);
    else if (use !== true) unused.push(`${key} has no effect here: ${use}`);
  }
  const { targetSelector, continuousReconcile } = document;
  for (const misfit of misfits(nested, { targetSelector, continuousReconcile })) {
    const siblings = (key: string): string => pathText([...misfit.path.slice(0, -1), key]);
    if (misfit.kind === 'unknown') note(pathText(misfit.path), misfit.known.map(siblings));
  }
  return { unknown, unused };
}

/** The key itself, or, if some of its fields are known, those fields. */
const keysIn = (name: string, value: unknown, known: readonly string[]): readonly string[] => {
  if (!known.some((key) => key.startsWith(`${name}.`))) return [name];
  return isObject(value) ? Object.keys(value).map((key) => `${name}.${key}`) : [];
};

/** An empty file is an empty document. */
function documentIn(text: string, file: string): Fields {
  try {
    return (parseYaml(text) ?? {}) as Fields;
  } catch (cause) {
    throw new SettingsError(`${file} is not valid YAML: ${(cause as Error).message}`, { cause });
  }
}

function checked(document: unknown, file: string): z.infer<typeof settingsSchema> {
  const result = settingsSchema.safeParse(document);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new SettingsError(`${file}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is not usable'}`);
}

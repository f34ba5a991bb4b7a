/** The configuration file of a deployer: the part that all deployers of upstream have in common. */
import { z } from 'zod';
import { isObject } from '../../src/lib/objects.ts';
import { parseYaml } from '../../src/lib/yaml.ts';
import type { DeployerSettings } from './deployer.ts';
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

/** An empty string and the number 0 count as missing, as in upstream. */
const settingsSchema = z.looseObject({
  kind: z.literal('Configuration').nullish(),
  identity: z.string().nullish(),
  targetSelector: z
    .array(
      z.object({
        targets: z.array(z.object({ name: z.string(), namespace: z.string().optional() })).optional(),
        annotations: z.array(requirement).optional(),
        labels: z.array(requirement).optional(),
      }),
    )
    .nullish(),
  claimUntargeted: z.boolean().nullish(),
  strict: z.boolean().nullish(),
  continuousReconcile: z.object({ enabled: z.boolean().nullish() }).nullish(),
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
}

/**
 * @param text YAML of kind Configuration
 * @param file for messages
 * @throws SettingsError in one line
 */
export function readSettings(text: string, file: string, options: ReadOptions = {}): ReadSettings {
  const document = parse(text, file);
  for (const note of notesOn(document, options.more)) options.onNote?.(note);
  const { identity, targetSelector, claimUntargeted, strict, continuousReconcile, controller } = document;
  const settings = {
    ...(targetSelector && { targetSelector }),
    ...(typeof claimUntargeted === 'boolean' && { claimUntargeted }),
    ...(typeof strict === 'boolean' && { strict }),
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
  continuousReconcile: true,
  'controller.workers': true,
  'controller.cacheSyncTimeout': 'the program waits for caches without a limit; /readyz shows the state',
  export: 'no deployer reads it, not even those of upstream; a deploy item has a timeout in spec.timeout',
  hpa: 'no autoscaler is created; start several processes with the same --lease, they share the deploy items',
};

function notesOn(document: Readonly<Record<string, unknown>>, more: MoreKeys = {}): readonly string[] {
  const keys = { ...COMMON_KEYS, ...more };
  const isSection = (name: string): boolean => Object.keys(keys).some((key) => key.startsWith(`${name}.`));
  const found = Object.entries(document).flatMap(([name, value]) => {
    if (!isSection(name)) return [name];
    return isObject(value) ? Object.keys(value).map((key) => `${name}.${key}`) : [];
  });
  return found.flatMap((key) => {
    const known = Object.hasOwn(keys, key) ? keys[key] : undefined;
    if (known === true) return [];
    return [
      known === undefined ? `${key} is unknown and has no effect` : `${key} has no effect here: ${known}`,
    ];
  });
}

function parse(text: string, file: string): z.infer<typeof settingsSchema> {
  let document: unknown;
  try {
    document = parseYaml(text);
  } catch (cause) {
    throw new SettingsError(`${file} is not valid YAML: ${(cause as Error).message}`, { cause });
  }
  const result = settingsSchema.safeParse(document ?? {});
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new SettingsError(`${file}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is not usable'}`);
}

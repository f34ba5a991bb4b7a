/** The configuration file of a deployer: the part that all deployers of upstream have in common. */
import { z } from 'zod';
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

const settingsSchema = z.looseObject({
  kind: z.literal('Configuration').nullish(),
  identity: z.string().min(1).nullish(),
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
  continuousReconcile: z.object({ enabled: z.boolean().nullish() }).nullish(),
  controller: z.looseObject({ workers: z.int().positive().nullish() }).nullish(),
});

interface ReadSettings {
  readonly settings: DeployerSettings;
  readonly identity: string | undefined;
}

/**
 * @param text YAML of kind Configuration; other keys, such as upstream's `export` and `hpa`, have no effect
 * @param file for messages
 * @throws SettingsError in one line
 */
export function readSettings(text: string, file: string): ReadSettings {
  const { identity, targetSelector, claimUntargeted, continuousReconcile, controller } = parse(text, file);
  const settings = {
    ...(targetSelector && { targetSelector }),
    ...(typeof claimUntargeted === 'boolean' && { claimUntargeted }),
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
  return { settings, identity: identity ?? undefined };
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

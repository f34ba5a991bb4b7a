/** Limits for the YAML of a blueprint that the thread of the controllers reads: about one second. */
import { YamlBudget } from '../lib/yaml-budget.ts';
import { parseYaml } from '../lib/yaml.ts';

/**
 * Characters of `blueprint.yaml`, and of all files of installation templates together. An object in a cluster has
 * fewer.
 */
export const MAX_READ_HERE = 2 * 2 ** 20;

/** Bytes of the values in one of these files, with aliases, where a value counts at least 32. */
const MAX_VALUES_READ_HERE = 16 * 2 ** 20;

/** @throws YamlError, also for more values */
export const parseHere = (text: string): unknown =>
  parseYaml(text, { budget: new YamlBudget(MAX_VALUES_READ_HERE) });

export const READ_HERE_RULE = `more than ${String(MAX_READ_HERE)}, a fixed limit; divide the blueprint into sub-installations`;

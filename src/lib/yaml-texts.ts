/**
 * YAML that tenants write. Several texts that become one value are counted together, with their aliases, while they
 * are read. Small ones are read in the thread of the controllers, others by a worker: see `TextReader`.
 */
import { goJson } from './gojson.ts';
import { sizeText } from './sizes.ts';
import { YamlBudget } from './yaml-budget.ts';
import { YamlError, YamlTooLarge } from './yaml-error.ts';
import { parseYaml } from './yaml.ts';
import type { YamlOptions } from './yaml-decode.ts';

export interface TextsJob {
  readonly texts: readonly (readonly [key: string, text: string])[];
  /** Default `refuse`. */
  readonly integers?: YamlOptions['integers'];
  /** Whether a string that is not YAML is its own value. */
  readonly keepsText?: boolean;
}

/** A value with its size as JSON. */
export interface ReadText {
  readonly value: unknown;
  readonly bytes: number;
}

export interface TextReader {
  /** The values in the order of the texts. @throws TextUnreadable, TextsTooLarge */
  readTexts(job: TextsJob): Promise<readonly ReadText[]>;
}

/** One of the texts is not valid YAML; `cause` is the YamlError, which may quote the text. */
export class TextUnreadable extends Error {
  override readonly name = 'TextUnreadable';
  readonly key: string;

  constructor(key: string, cause: unknown) {
    super((cause as Error).message, { cause });
    this.key = key;
  }
}

/** The values together exceed a limit; the message is the end of a sentence, without any of the values. */
export class TextsTooLarge extends Error {
  override readonly name = 'TextsTooLarge';
}

/** Characters that are read in the thread of the controllers at once: some 10 ms. */
export const MAX_CHARACTERS_HERE = 32 * 2 ** 10;
/** A plain text of so many characters never has more: at most every second character begins a value. */
export const MAX_BYTES_HERE = 16 * 32 * 2 ** 10;

/** Whether the texts may be read in the thread of the controllers; aliases are counted meanwhile. */
export const isShort = ({ texts }: TextsJob): boolean =>
  texts.reduce((sum, [, text]) => sum + text.length, 0) <= MAX_CHARACTERS_HERE;

/**
 * @param maxBytes of all values, where a value counts at least 32
 * @throws TextUnreadable, TextsTooLarge
 */
export function readTexts({ texts, integers, keepsText = false }: TextsJob, maxBytes: number): ReadText[] {
  const options = { ...(integers && { integers }), budget: new YamlBudget(maxBytes) };
  return texts.map(([key, text]) => {
    const value = valueOf(key, text, { ...options, keepsText, maxBytes });
    return { value, bytes: goJson(value).length };
  });
}

/** Values that a thread reads without workers. */
const MAX_VALUES_HERE = 4 << 20;

/** Reads in this thread: for programs without workers, such as deployers of others. */
export const textsHere: TextReader = {
  readTexts: (job) => new Promise((resolve) => resolve(readTexts(job, MAX_VALUES_HERE))),
};

function valueOf(
  key: string,
  text: string,
  options: YamlOptions & { readonly keepsText: boolean; readonly maxBytes: number },
): unknown {
  try {
    return parseYaml(text, options);
  } catch (error) {
    if (error instanceof YamlTooLarge)
      throw new TextsTooLarge(
        `the values, with their aliases, have more than ${sizeText(options.maxBytes)} together`,
      );
    if (!(error instanceof YamlError)) throw error;
    if (options.keepsText) return text;
    throw new TextUnreadable(key, error);
  }
}

/** Characters and bytes of a string that has to be read in the thread of its caller, such as a kubeconfig. */
const MAX_BOUNDED_CHARACTERS = 256 * 2 ** 10;
const MAX_BOUNDED_BYTES = 16 * MAX_BOUNDED_CHARACTERS;

/**
 * The first document of a string whose size is limited, with its aliases: for kubeconfigs, credentials and other small
 * documents that tenants write.
 * @throws YamlError, also for larger texts
 */
export function parseBoundedYaml(text: string, options: Omit<YamlOptions, 'budget'> = {}): unknown {
  if (text.length > MAX_BOUNDED_CHARACTERS)
    throw new YamlTooLarge(`yaml: the text has more than ${sizeText(MAX_BOUNDED_CHARACTERS)}`, 1);
  return parseYaml(text, { ...options, budget: new YamlBudget(MAX_BOUNDED_BYTES) });
}

/** The chart values of an installation: from files, then from options, then from `--set`. */
import { textOfYaml } from '../../../lib/yaml-bytes.ts';
import { readFileSync } from 'node:fs';
import { copy } from '../../../lib/json.ts';
import { isObject, ownField, type Fields } from '../../../lib/objects.ts';
import { parseYaml } from '../../../lib/yaml.ts';
import { mergeTables } from '../../../templating/helm/coalesce.ts';
import { UsageError } from '../../errors.ts';
import { withSetOption } from './set-option.ts';

interface ValueSources {
  /** Files with values; later ones win. */
  readonly files: readonly string[];
  /** Values of other options. They win over files. */
  readonly options: Fields;
  /** Arguments of `--set`. They win over all others. */
  readonly sets: readonly string[];
}

/** @throws UsageError if a file cannot be read, or `--set` has a wrong syntax */
export function chartValues({ files, options, sets }: ValueSources): Fields {
  const fromFiles = files
    .map(readValues)
    .reduce<Fields>((before, next) => mergeTables(next, before, 'merge'), {});
  // The document of --config replaces the one of a file: a mixture of both would be surprising.
  const below = 'config' in options ? { ...fromFiles, config: {} } : fromFiles;
  return sets.reduce(withSetOption, mergeTables(copy(options), below, 'merge'));
}

function readValues(file: string): Fields {
  const values = parsed(file);
  if (isObject(values)) return values;
  throw new UsageError(`cannot read values ${file}: expected a map of values`);
}

function parsed(file: string): unknown {
  try {
    return parseYaml(textOfYaml(readFileSync(file))) ?? {};
  } catch (error) {
    const [line = ''] = (error as Error).message.split('\n');
    throw new UsageError(`cannot read values ${file}: ${line}`, { cause: error });
  }
}

/** `[host[:port]/]path[:tag][@digest]` */
const IMAGE =
  /^(?:[a-z0-9]+(?:[.-][a-z0-9]+)*(?::\d+)?\/)?[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$/i;

/** The value `image` for an image reference. @throws UsageError */
export function imageValue(image: string): Fields {
  if (!IMAGE.test(image)) {
    throw new UsageError(
      `"${image}" is not a valid image; write it like registry.example.org/espalier:0.1.0`,
    );
  }
  const [name = '', digest = ''] = image.split('@');
  const colon = name.lastIndexOf(':');
  if (colon > name.lastIndexOf('/'))
    return { repository: name.slice(0, colon), tag: name.slice(colon + 1), digest };
  // Without a tag, Kubernetes uses `latest`; the chart would use its own version.
  return { repository: name, tag: digest === '' ? 'latest' : '', digest };
}

/** Whether the values name an image. The default of the chart is only for images that were built on the node. */
export const hasImage = (values: Fields): boolean =>
  Boolean(ownField(isObject(values['image']) ? values['image'] : {}, 'repository'));

/** Snapshots of what templates have rendered: the deploy items and the imports and exports of installations. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Installation } from '../../../api/kinds/installation.ts';
import type { DeployItem } from '../../../api/kinds/deployitem.ts';
import type { View } from '../../../lib/objects.ts';
import { parseYaml, toYamlPretty, YamlError } from '../../../lib/yaml.ts';
import type { Node } from '../../tree/tree.ts';
import { exactDifferences } from './match.ts';
import type { Difference } from './problem.ts';

const FOLDER = 'snapshots';
const HEAD = '# Written by: espalier test --update\n';

/** What was rendered, by path. Pure. */
export function rendered(nodes: ReadonlyMap<string, Node>): Readonly<Record<string, unknown>> {
  const entries = [...nodes].map(([path, { object }]) => [path, renderedOf(object)] as const);
  return plain(Object.fromEntries(entries)) as Record<string, unknown>;
}

function renderedOf(object: Node['object']): object {
  if (object.kind === 'Installation') {
    const { imports, exports, importDataMappings, exportDataMappings } = (object as View<Installation>).spec;
    return { imports, exports, importDataMappings, exportDataMappings };
  }
  const { context: _context, ...spec } = (object as View<DeployItem>).spec;
  return spec;
}

/** Without fields that are undefined. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** `snapshots/shop/installs-the-database.yaml` beside `shop.test.yaml`; a case may have several. */
export function snapshotFile(testFile: string, caseName: string, position: number): string {
  const suite = basename(testFile).replace(/(\.test)?\.ya?ml$/, '');
  const name = caseName
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
  return join(dirname(testFile), FOLDER, suite, `${name}${position > 1 ? `-${String(position)}` : ''}.yaml`);
}

/** Compares with the file, or writes it. @returns what is wrong; undefined if nothing is */
export function checkSnapshot(
  file: string,
  actual: unknown,
  update: boolean,
): { readonly title: string; readonly differences: readonly Difference[] } | undefined {
  if (update) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, HEAD + toYamlPretty(actual));
    return undefined;
  }
  if (!existsSync(file))
    return { title: `there is no snapshot ${file}; write it with --update`, differences: [] };
  let expected: unknown;
  try {
    expected = parseYaml(readFileSync(file, 'utf8'));
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    return { title: `the snapshot ${file} is not valid YAML; write it again with --update`, differences: [] };
  }
  const differences = exactDifferences(expected, actual);
  return differences.length > 0
    ? { title: `the snapshot ${file} differs; if that is intended, write it with --update`, differences }
    : undefined;
}

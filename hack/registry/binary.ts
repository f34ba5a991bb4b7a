/**
 * Finds a real registry for tests, or builds one from its Go module: once, into a cache outside the tree.
 *
 *     npx tsx hack/registry/main.ts    # builds it; takes some minutes
 */
import { delimiter, join } from 'node:path';
import { isExecutable } from '../executable.ts';
import { programCache } from '../go/build.ts';
import { buildGoProgram } from '../go/program.ts';

const MODULE = 'github.com/distribution/distribution/v3';
const VERSION = 'v3.0.0';

/** ESPALIER_TEST_REGISTRY, Debian's docker-registry, or the built program; undefined if there is none. */
export function findRegistry(): string | undefined {
  const given = process.env['ESPALIER_TEST_REGISTRY'];
  const onPath = (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'docker-registry'));
  return [...(given ? [given] : []), ...onPath, builtRegistry()].find(isExecutable);
}

const builtRegistry = (): string => programCache('registry', VERSION, 'registry');

/** @throws GoUnavailable */
export function buildRegistry(say: (line: string) => void): string {
  const target = builtRegistry();
  if (isExecutable(target)) return target;
  say(`building ${MODULE} ${VERSION} into ${target} (some minutes, once)`);
  buildGoProgram(target, {
    goPackage: `${MODULE}/cmd/registry`,
    module: { name: MODULE, version: VERSION },
  });
  return target;
}

/**
 * Generates src/apiserver/data/openapi.json.gz: upstream's OpenAPI v3 schemas of all kinds that the embedded API
 * server serves, from the Go module of Kubernetes.
 *
 *   node --import tsx hack/update-kinds.ts [FOLDER]
 *
 * FOLDER is api/openapi-spec/v3 of a Kubernetes source tree; without it the module is downloaded with Go.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const MODULE = 'k8s.io/kubernetes@v1.34.4';
const TARGET = new URL('../src/apiserver/data/openapi.json.gz', import.meta.url);

/** Served versions: stable ones, and those of the scale subresource. */
const DOCUMENT = /^apis?__.*v\d+_openapi\.json$/;

type Schema = Readonly<Record<string, unknown>>;

function specFolder(): string {
  const given = process.argv[2];
  if (given !== undefined) return given;
  const answer = execFileSync('go', ['mod', 'download', '-json', MODULE], { cwd: '/', encoding: 'utf8' });
  return join((JSON.parse(answer) as { Dir: string }).Dir, 'api/openapi-spec/v3');
}

function references(value: unknown, found = new Set<string>()): Set<string> {
  if (Array.isArray(value)) value.forEach((item) => references(item, found));
  else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      if (key === '$ref' && typeof member === 'string')
        found.add(member.slice('#/components/schemas/'.length));
      else references(member, found);
    }
  }
  return found;
}

/** Removes descriptions, because they are other authors' text. A property may have the name `description`, too. */
function withoutDescriptions(value: unknown, isProperties = false): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutDescriptions(item));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => isProperties || key !== 'description');
  return Object.fromEntries(
    kept.map(([key, member]) => [key, withoutDescriptions(member, !isProperties && key === 'properties')]),
  );
}

const folder = specFolder();
const all = new Map<string, Schema>();
for (const file of readdirSync(folder)
  .filter((name) => DOCUMENT.test(name))
  .sort()) {
  const document = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
    components?: { schemas?: Record<string, Schema> };
  };
  for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) {
    all.set(name, withoutDescriptions(schema) as Schema);
  }
}

// Type of patch bodies, which have no kind of their own.
const EXTRA = ['io.k8s.apimachinery.pkg.apis.meta.v1.Patch'];

// DeleteOptions and similar types list every version of every group; this list is not used.
const schemas: Record<string, Schema> = {};
const queue = [
  ...EXTRA,
  ...[...all.keys()].filter((name) => 'x-kubernetes-group-version-kind' in (all.get(name) ?? {})),
];
for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
  const schema = all.get(name);
  if (schema === undefined || name in schemas) continue;
  const kinds = schema['x-kubernetes-group-version-kind'];
  const isShared = Array.isArray(kinds) && kinds.length > 3;
  schemas[name] = isShared ? { ...schema, 'x-kubernetes-group-version-kind': kinds.slice(0, 1) } : schema;
  queue.push(...references(schema));
}
const sorted = Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
const header = { generatedBy: 'hack/update-kinds.ts', source: MODULE, license: 'Apache-2.0' };
const bytes = gzipSync(JSON.stringify({ ...header, schemas: sorted }), { level: 9 });
mkdirSync(new URL('.', TARGET), { recursive: true });
writeFileSync(TARGET, bytes);
console.log(`${Object.keys(sorted).length} schemas, ${Math.round(bytes.length / 1024)} KiB`);

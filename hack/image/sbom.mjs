// Reads the output of `npm sbom --sbom-format cyclonedx` from stdin and prints the bill of materials of the product: the
// packages that it depends on, and those that the build put into it.
//
//   npm sbom --package-lock-only --sbom-format=cyclonedx | node sbom.mjs dist/bundled.json
//
// Leaves out what differs in every run, so that two builds are equal.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const DEVELOPMENT = 'cdx:npm:package:development';
const [, , bundledFile] = process.argv;

let text = '';
for await (const chunk of process.stdin) text += chunk;
const sbom = JSON.parse(text);
delete sbom.metadata.timestamp;
delete sbom.serialNumber;

const bundled = new Set(
  JSON.parse(readFileSync(bundledFile, 'utf8')).map(({ name, version }) => `${name}@${version}`),
);
const isNeededAnyway = ({ properties = [] }) => !properties.some(({ name }) => name === DEVELOPMENT);
sbom.components = sbom.components
  .filter((component) => bundled.has(component['bom-ref']) || isNeededAnyway(component))
  .map(({ scope: _, properties = [], ...component }) => ({
    ...component,
    scope: 'required',
    properties: properties.filter(({ name }) => name !== DEVELOPMENT),
  }));

const refs = new Set(sbom.components.map((component) => component['bom-ref']));
const missing = [...bundled].filter((ref) => !refs.has(ref));
if (missing.length > 0) {
  console.error(`error: npm sbom does not list bundled packages: ${missing.join(', ')}`);
  process.exit(1);
}
const own = sbom.metadata.component?.['bom-ref'];
sbom.dependencies = (sbom.dependencies ?? [])
  .filter(({ ref }) => ref === own || refs.has(ref))
  .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((each) => refs.has(each)) }));

const hash = createHash('sha256').update(JSON.stringify(sbom)).digest('hex');
const uuid = [
  hash.slice(0, 8),
  hash.slice(8, 12),
  `5${hash.slice(13, 16)}`,
  `8${hash.slice(17, 20)}`,
  hash.slice(20, 32),
];
console.log(JSON.stringify({ ...sbom, serialNumber: `urn:uuid:${uuid.join('-')}` }, null, 2));

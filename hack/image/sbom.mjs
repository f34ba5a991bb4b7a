// Reads the output of `npm sbom --sbom-format cyclonedx` from stdin and prints it without what differs in every run, so
// that two builds are equal.
import { createHash } from 'node:crypto';

let text = '';
for await (const chunk of process.stdin) text += chunk;
const sbom = JSON.parse(text);
delete sbom.metadata.timestamp;
delete sbom.serialNumber;
const hash = createHash('sha256').update(JSON.stringify(sbom)).digest('hex');
const uuid = [
  hash.slice(0, 8),
  hash.slice(8, 12),
  `5${hash.slice(13, 16)}`,
  `8${hash.slice(17, 20)}`,
  hash.slice(20, 32),
];
console.log(JSON.stringify({ ...sbom, serialNumber: `urn:uuid:${uuid.join('-')}` }, null, 2));
